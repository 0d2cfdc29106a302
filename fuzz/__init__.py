"""Bad input by the hundred thousand: every decoder and every file that a user can hand in, each input by its number.

Run it as `python -m fuzz --seconds 120 --seed 7`. Nothing of the product imports it.
"""
