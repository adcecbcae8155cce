"""Clusters for the tests of what works on one; those of runs have their own, which they break."""

import pytest

from servers import ray_machines


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two machines with a processor each; a test may remove the second and add another."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with ray_machines.cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="package")
def ray_cluster(tmp_path_factory):
    """Two machines that are processes of this one; their address."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with ray_machines.cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found.address


@pytest.fixture
def on_ray(ray_cluster):
    """This process is connected to them."""
    with ray_machines.connection(ray_cluster):
        yield
