"""Lists of English words: those that say nothing alone, and those that cards must or must not use."""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def words_in(text: str) -> tuple[str, ...]:
    """The words of a text as they are written, without punctuation.

    >>> words_in("A red-haired woman's cap, twice.")
    ('A', 'red-haired', "woman's", 'cap', 'twice')
    """
    return tuple(_WORD.findall(text.replace("\u2019", "'")))


def listed(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


# Words that hold sentences together.
FUNCTION_WORDS: Final = listed(
    """
    a an the this that these those some any each every no not nor both either neither such same other
    another and or but while as if than so then there here also too very quite just only even still again
    already i you he she it we they him her them his hers its their theirs himself herself itself
    themselves who whom whose which what where when why how is are was were be been being am has have had
    having do does did will would can could may might must shall should get gets got of in on at by for
    from to into onto out off over under up down with without within through across along about around
    near beside between behind before after above below against toward towards upon during until per via
    """
)
# Words that may come and go where a sentence is changed: they turn nothing into its opposite.
GLUE_WORDS: Final = listed(
    """
    a an the this that these those some and as of is are was were be being has have in on at to with who which
    he she it they him her them his hers its their himself herself itself themselves
    """
)
# What somebody is recognised by: clothes, accessories, hair, build. Verbs of wearing go with them.
GARMENTS: Final = listed(
    """
    anorak apron backpack bag bags ball-cap bandana baseball-cap beanie beard bearded belt blazer blouse
    bonnet boots bracelet briefcase cap cape cardigan cloak clothes clothing coat coats collar dress
    earrings eyeglasses fleece footwear glasses gloves gown handbag hair haircut hat hats headband
    headphones headscarf helmet hood hooded hoodie jacket jackets jeans jersey jumper kilt leggings
    loafers mask moustache mustache necklace necktie overalls outfit overcoat pants parka pigtails polo
    ponytail poncho pullover purse raincoat robe rucksack sandals scarf shawl shirt shirts shoe shoes
    shorts skirt sleeve sleeves slippers sneakers sock socks suit suitcase sunglasses sweater sweatpants
    sweatshirt swimsuit t-shirt tee tie tights top trainers trousers tunic turban turtleneck umbrella
    uniform veil vest waistcoat watch wear wearing wears windbreaker
    """
)
COLOURS: Final = listed(
    """
    amber azure beige black blond blonde blue bronze brown brunette burgundy cream crimson cyan dark-blue
    dark-green dark-grey dark-red emerald ginger gold golden gray green grey indigo ivory khaki lavender
    lilac magenta maroon mauve mustard navy ochre olive orange peach pink purple red red-haired rust
    salmon scarlet silver tan teal turquoise violet white yellow plaid striped stripes checkered checked
    floral patterned
    """
)
# What somebody does; an appearance card says nothing of it.
MOTIONS: Final = listed(
    """
    approach approaches approaching arrive arrives arriving climb climbs climbing continues cross crosses
    crossing dance dances dancing depart departs departing enter enters entering exit exits exiting
    follow follows following goes going head heads heading hop hops jog jogs jogging jump jumps jumping
    kneel kneels leap leaps leave leaves leaving linger lingers loiter march marches marching move moved
    moves moving pass passes passing pause pauses pausing proceed proceeds push pushes ran return returns
    returning ride rides riding run runs running sit sits skip stand stands step steps stepping stop
    stops stopping stride strides striding stroll strolls strolling talk talks talking turn turns turning
    wait waits waiting walk walked walks walking wander wanders wave waves waving
    """
)
# Where somebody is in the picture.
PLACES: Final = listed(
    """
    background backdrop bottom-left bottom-right camera centre center corner distance downwards edge
    foreground frame left leftmost leftward left-hand lower-left lower-right middle-left picture right
    rightmost rightward right-hand scene upper-left upper-right upwards
    """
)
# Of the words above, those that are also said of things: no sign of a leak when one stands alone.
_OFTEN_INNOCENT: Final = listed("top watch tie tan cream gold golden rust stripes orange")


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, in small letters and without an s of possession.

    >>> sorted(content_words("The woman's cap is on the Cap stand"))
    ['cap', 'stand', 'woman']
    """
    small = (word.casefold().removesuffix("'s") for word in words_in(text))
    return frozenset(word for word in small if word not in FUNCTION_WORDS)


def appearance_words(text: str) -> frozenset[str]:
    """The words of a text that say what somebody looks like."""
    return (content_words(text) & (GARMENTS | COLOURS)) - _OFTEN_INNOCENT


def action_words(text: str) -> frozenset[str]:
    """The words of a text that say what somebody does, or where in the picture."""
    return content_words(text) & (MOTIONS | PLACES)
