import unittest

from shop.money import percent_of, show


class MoneyTest(unittest.TestCase):
    def test_half_a_cent_is_rounded_up(self):
        self.assertEqual(percent_of(1050, 5), 53)
        self.assertEqual(percent_of(1049, 5), 52)

    def test_amounts_have_two_decimals(self):
        self.assertEqual(show(6000), "60.00")
        self.assertEqual(show(5), "0.05")
