"""Sixty example scene cards in our own words: ten made-up films of six descriptions each."""

from vidence.make.pipeline.material import SceneCard

_FILMS = """
harbour
A man in a blue coat walks along a wooden pier past two boats.
Three gulls sit on the wall beside a narrow street.
A woman in a yellow jacket carries a basket through the market.
An elderly man sits on a bench near a grey tower.
Two boys ride a red bicycle down a wet road.
A brown dog runs across the sand towards a man with a ball.
farm
A young woman in a green pullover stands beside a white horse.
Four cows lie under a tree in a wide meadow.
A red truck stands near a wooden barn at dawn.
A boy in a blue shirt walks through the mud with a black dog.
A man opens the gate and two goats run into the field.
An old woman sits at a table in the kitchen and holds a cup.
town
A crowded street with three buses and a white car at noon.
A girl in a red dress runs past a bakery window.
Two men in black coats stand behind a green car.
A young man with short hair rides a scooter along a wide road.
A woman with a black umbrella walks across a square in the rain.
Five people wait near a grey wall beside the railway.
mountains
Two climbers in orange jackets walk up a narrow path in the snow.
A small wooden house stands beside a lake at night.
A young woman sits on a rock and reads a map.
A grey goat stands on a rock near a river.
A man in a red jacket crawls into a green tent.
A bird flies over the forest on a foggy morning.
school
A dark-haired girl writes at a desk in a crowded room.
Three children run through a long hallway.
A man in a grey shirt stands beside the window and reads a book.
A woman in a white blouse opens a door with her left hand.
Two girls sit on a sofa with a brown cat.
A boy carries a blue backpack into the workshop.
castle
A bearded man with a lantern walks through a dark tunnel.
A woman in a long gown stands at an open window.
Two horses stand under a stone bridge near the river.
A candle burns on a wooden table beside a letter.
Four men in grey coats enter the courtyard at night.
A black cat sits on a wall in the sun.
kitchen
A woman in a white apron cuts bread on a wooden table.
A man with grey hair holds a green bottle in his right hand.
A blue bowl and two spoons lie on a shelf.
A young man in a black t-shirt stands behind a metal table.
A girl drinks from a red cup near the window.
A small dog sleeps under a chair in the kitchen.
park
A woman in a blue cardigan walks a white dog along a path.
Three men sit on a bench under a tree with a newspaper.
A boy on a green skateboard passes a fountain.
Two women in red coats run along a lake on a cloudy day.
An elderly woman stands near a hedge and holds a book.
A yellow ball lies in the grass beside a black bicycle.
station
A man in a brown coat carries a suitcase past a blue train.
An empty platform with two benches at night.
A woman in a green coat sits near a closed door.
A young girl with curly hair stands beside a red suitcase.
Four people walk down the stairs into a tunnel.
A white van stops behind a bus on a rainy street.
garden
A woman in a yellow dress stands beside a white fence.
Two brown rabbits sit in the grass near a stone wall.
A man kneels under a tree and lifts a box.
A grey-haired woman walks through a gate with a basket of red flowers.
Three birds sit on a wooden fence on a sunny morning.
A boy in a white shirt runs towards an open door.
"""


def films() -> dict[str, tuple[SceneCard, ...]]:
    """The true cards of each film, by its name."""
    found: dict[str, list[SceneCard]] = {}
    name = ""
    for line in _FILMS.strip().splitlines():
        if line.endswith("."):
            n = len(found[name]) + 1
            found[name].append(SceneCard(card_id=f"shot-{n}-true", shot_id=f"shot-{n}", text=line))
        else:
            name = line
            found[name] = []
    return {name: tuple(cards) for name, cards in found.items()}
