"""Ids that can be said, typed and used as a DNS label."""

import re

from carrel.core.ids import ID_LENGTH, ID_PATTERN, new_id


def test_ids_have_their_form_and_do_not_repeat():
    made = {new_id() for _ in range(2000)}
    assert len(made) == 2000
    assert all(re.fullmatch(ID_PATTERN, one) and len(one) == ID_LENGTH for one in made)


def test_every_character_is_used_and_the_first_is_a_letter():
    made = [new_id() for _ in range(3000)]
    assert {one[0] for one in made} == set("abcdefghijklmnopqrstuvwxyz")
    assert {character for one in made for character in one[1:]} == set("abcdefghijklmnopqrstuvwxyz234567")
