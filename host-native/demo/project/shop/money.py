"""Money in whole cents."""


def percent_of(cents, percent):
    """A percentage of an amount, half a cent rounded up."""
    return (cents * percent + 50) // 100


def show(cents):
    """An amount as people write it."""
    return f"{cents // 100}.{cents % 100:02d}"
