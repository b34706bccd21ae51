import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_an_empty_cart_costs_nothing(self):
        self.assertEqual(Cart().total(), 0)

    def test_small_orders_pay_shipping(self):
        cart = Cart()
        cart.add("Emil", 1290, copies=2)
        self.assertEqual(cart.total(), 2580 + 490)

    def test_a_class_set_gets_the_class_discount(self):
        cart = Cart()
        cart.add("Momo", 980, copies=20)
        cart.add("Momo", 980, copies=5)
        self.assertEqual(cart.total(), 24500 - 2450)

    def test_discounts_are_per_title(self):
        cart = Cart()
        cart.add("Momo", 980, copies=6)
        cart.add("Emil", 1290, copies=6)
        self.assertEqual(cart.total(), 5880 + 7740)
