import unittest

from shop.discounts import volume_percent


class VolumeDiscountTest(unittest.TestCase):
    def test_few_copies_get_none(self):
        self.assertEqual(volume_percent(1), 0)
        self.assertEqual(volume_percent(9), 0)

    def test_a_tier_starts_at_its_first_copy(self):
        self.assertEqual(volume_percent(10), 5)
        self.assertEqual(volume_percent(25), 10)
        self.assertEqual(volume_percent(100), 15)

    def test_a_tier_reaches_up_to_the_next(self):
        self.assertEqual(volume_percent(24), 5)
        self.assertEqual(volume_percent(99), 10)
        self.assertEqual(volume_percent(5000), 15)

    def test_no_copies_are_no_order(self):
        with self.assertRaises(ValueError):
            volume_percent(0)
