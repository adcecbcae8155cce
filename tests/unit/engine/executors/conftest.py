"""A cluster for the tests of what works on one; those of runs have their own, which they break."""

import pytest

from servers.ray_machines import cluster, connection


@pytest.fixture(scope="package")
def ray_cluster(tmp_path_factory):
    """Two machines that are processes of this one; their address."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with cluster(tmp_path_factory.mktemp("cluster")) as address:
        yield address


@pytest.fixture
def on_ray(ray_cluster):
    """This process is connected to them."""
    with connection(ray_cluster):
        yield
