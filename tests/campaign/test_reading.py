from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.campaign.reading import parse_campaign, presets, read_campaign
from cvmbench.errors import CampaignError, UsageError

GOOD = 'name = "x"\narms = ["plain"]\nworkloads = ["mbw"]\n'


def test_every_preset_is_a_valid_campaign() -> None:
    for name, text in presets().items():
        assert parse_campaign(text, name).campaign.name == name


def test_defaults_are_filled_in() -> None:
    campaign = parse_campaign(GOOD, "f").campaign
    assert (campaign.baseline_name, campaign.blocks, campaign.threshold) == ("plain", 5, 0.02)


def test_sizes_and_shares_are_written_with_their_unit() -> None:
    text = GOOD + 'threshold = "5%"\n[vm]\nmemory = "2 GiB"\n'
    campaign = parse_campaign(text, "f").campaign
    assert campaign.threshold == pytest.approx(0.05)
    assert campaign.vm.memory == 2 * 2**30


@pytest.mark.parametrize(
    ("extra", "parts"),
    [
        ("blokcs = 3", ["f.toml", "'blokcs'", "Did you mean 'blocks'?"]),
        ('[vm]\nmemroy = "1 GiB"', ["'vm.memroy'", "Did you mean 'memory'?"]),
        ("blocks = 0", ["'blocks' is 0", "greater than or equal to 1"]),
        ('threshold = "2"', ["threshold", "percent sign"]),
        ("threshold = 2", ["'threshold' is 2", "less than 1", "for example '5%'"]),
        ('parameters = "papr"', ["'parameters' is 'papr'", "'quick' or 'paper'"]),
        ('baseline = "plane"', ["the baseline 'plane' is not one of the arms"]),
        ("[vm]\nvcpus = true", ["'vm.vcpus'"]),
    ],
)
def test_an_error_names_the_file_the_key_and_what_is_valid(extra: str, parts: list[str]) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_campaign(GOOD + extra, "f.toml")
    for part in parts:
        assert part in str(caught.value)
    assert caught.value.exit_code == 2


def test_an_unknown_arm_is_named_with_its_place() -> None:
    text = 'name = "x"\narms = ["plain", "plian"]\nworkloads = ["mbw"]\n'
    with pytest.raises(CampaignError, match=r"arms\[2\].*Did you mean 'plain'\?$"):
        parse_campaign(text, "f.toml")


def test_broken_toml_names_the_line() -> None:
    with pytest.raises(CampaignError, match="line 2"):
        parse_campaign('name = "x"\narms = [plain]', "f.toml")


def test_twins_need_names_of_their_own() -> None:
    twice = 'name = "x"\narms = ["plain", "plain"]\nworkloads = ["mbw"]\n'
    with pytest.raises(CampaignError, match="name of its own"):
        parse_campaign(twice, "f")
    named = (
        'name = "x"\narms = ["plain", {arm = "plain", name = "again"}]\n'
        'workloads = ["mbw", {use = "mbw", label = "mbw-big", parameters = {array_mib = 8}}]\n'
    )
    campaign = parse_campaign(named, "f").campaign
    assert [arm.name for arm in campaign.parsed_arms()] == ["plain", "again"]
    assert [choice.key for choice in campaign.workloads] == ["mbw", "mbw-big"]


def test_settings_go_over_the_file_and_are_kept_in_its_text() -> None:
    source = parse_campaign(GOOD, "f", ["blocks=7", "vm.memory=2 GiB", 'arms=["plain","tdx"]'])
    assert source.campaign.blocks == 7
    assert source.campaign.vm.memory == 2 * 2**30
    assert [arm.name for arm in source.campaign.parsed_arms()] == ["plain", "tdx"]
    assert "# --set blocks=7" in source.text


@pytest.mark.parametrize("setting", ["blocks", "=3", "name.x=3", "a\nb=3"])
def test_a_setting_of_another_form_is_refused(setting: str) -> None:
    with pytest.raises(UsageError):
        parse_campaign(GOOD, "f", [setting])


def test_a_file_that_is_not_there_suggests_presets() -> None:
    with pytest.raises(CampaignError, match="Did you mean 'quick'"):
        read_campaign("qiuck")


def test_unreadable_files_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="cannot be read"):
        read_campaign(str(tmp_path))
    binary = tmp_path / "b.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CampaignError, match="cannot be read"):
        read_campaign(str(binary))
    huge = tmp_path / "h.toml"
    huge.write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(CampaignError, match="too large"):
        read_campaign(str(huge))


@given(st.text(max_size=200))
def test_any_text_is_a_campaign_or_a_campaign_error(text: str) -> None:
    with contextlib.suppress(CampaignError):
        parse_campaign(text, "f")


@given(
    st.dictionaries(
        st.sampled_from(["name", "arms", "workloads", "vm", "blocks", "threshold", "seed", "zz"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=6,
        ),
    )
)
def test_any_data_is_a_campaign_or_sentences(data: dict[str, object]) -> None:
    from pydantic import ValidationError

    from cvmbench.campaign.model import Campaign
    from cvmbench.campaign.reading import explain

    try:
        Campaign.model_validate(data)
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            assert explain(problem, Campaign, data)
