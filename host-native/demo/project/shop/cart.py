"""An order: lines of titles, and what they come to."""

from dataclasses import dataclass, field

from shop.discounts import volume_percent
from shop.money import percent_of
from shop.shipping import shipping_cost


@dataclass
class Line:
    """So many copies of one title."""

    title: str
    price: int
    copies: int

    def total(self):
        full = self.price * self.copies
        return full - percent_of(full, volume_percent(self.copies))


@dataclass
class Cart:
    lines: list = field(default_factory=list)

    def add(self, title, price, copies=1):
        """Adds copies of a title; a title that is there already gets more copies."""
        for line in self.lines:
            if line.title == title and line.price == price:
                line.copies += copies
                return
        self.lines.append(Line(title, price, copies))

    def goods(self):
        return sum(line.total() for line in self.lines)

    def total(self):
        goods = self.goods()
        return goods + shipping_cost(goods)
