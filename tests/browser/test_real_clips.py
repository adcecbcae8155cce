"""Real clips in Chromium: what is painted at a frame is the still that models are sent of it."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from conftest import need

pytestmark = pytest.mark.parity

HERE = Path(__file__).parent
CLIPS = ("pets09_s2l1_view1_480x360.mp4", "big_buck_bunny_60s_640x360.mp4")
N_FRAMES = 200
MOST_APART = 3.0  # levels of 255, in the mean: what two decoders and a JPEG differ by
APART = """async ([name, frame]) => {
  const film = document.querySelector(`#${name} video`);
  const at = document.querySelector(`#${name}`).dataset.media;
  const answer = await fetch(`${at}/still/${frame}.jpg?size=native&quality=95`);
  const still = await createImageBitmap(await answer.blob());
  const said = [film, still].map((one) => {
    const canvas = document.createElement("canvas");
    canvas.width = film.videoWidth; canvas.height = film.videoHeight;
    const pen = canvas.getContext("2d", {willReadFrequently: true});
    pen.drawImage(one, 0, 0, canvas.width, canvas.height);
    return pen.getImageData(0, 0, canvas.width, canvas.height).data;
  });
  let sum = 0;
  for (let i = 0; i < said[0].length; i += 1) sum += Math.abs(said[0][i] - said[1][i]);
  return sum / said[0].length;
}"""


@pytest.mark.parametrize("name", CLIPS)
def test_each_of_sixteen_frames_is_the_still_of_its_number(page, serve_script, data_dir, tmp_path, name):
    clip = need(data_dir / "video" / name)
    door = serve_script("serve_players.py", tmp_path / "studio", f"clip=video={clip}")
    page.goto(door)
    page.goto(f"{door.partition('/enter')[0]}/players?{urlencode({'name': 'clip'})}")
    section = page.locator("#clip")
    expect(section).to_have_attribute("data-frame", "0", timeout=20_000)
    box = section.get_by_role("textbox")
    for frame in ((2 * i + 1) * N_FRAMES // 32 for i in range(16)):
        box.fill(str(frame))
        box.press("Enter")
        expect(section).to_have_attribute("data-frame", str(frame), timeout=20_000)
        apart = page.evaluate(APART, ["clip", frame])
        assert apart < MOST_APART, frame
        if frame % 4 == 2:
            assert apart < min(page.evaluate(APART, ["clip", frame + by]) for by in (-2, 2)), frame
