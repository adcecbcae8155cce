"""A Ray cluster whose autoscaler adds machines, which are processes of this one.

Ray's own `AutoscalingCluster` ends every Ray of the machine when it starts, and its wheel lacks a file of it.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

HEAD = "f" * 51 + "00000"  # as Ray's simulated provider calls it
LISTS = (
    "cluster_synced_files", "rsync_exclude", "rsync_filter", "initialization_commands", "setup_commands",
    "head_setup_commands", "worker_setup_commands", "head_start_ray_commands", "worker_start_ray_commands",
)  # fmt: skip


def _configuration(address: str, *, most: int, store_bytes: int) -> dict[str, object]:
    machine = {"CPU": 1, "object_store_memory": store_bytes}
    return {
        "cluster_name": "growing",
        "max_workers": most,
        "idle_timeout_minutes": 5,
        "upscaling_speed": 10,
        "provider": {
            "type": "fake_multinode",
            "gcs_address": address,
            "head_node_id": HEAD,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
        },
        "head_node_type": "ray.head.default",
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
            "one": {"resources": machine, "node_config": {}, "min_workers": 0, "max_workers": most},
        },
        **{name: {} for name in ("docker", "auth", "file_mounts")},
        "file_mounts_sync_continuously": False,
        **{name: [] for name in LISTS},
    }


@contextmanager
def growing_cluster(folder: Path, *, most: int, store_bytes: int) -> Iterator[str]:
    """The address of a cluster that has no machine to work on, and gets up to `most` that are asked for."""
    import ray

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{ray.util.get_node_ip_address()}:{free.getsockname()[1]}"
    written = folder / "growing.json"
    written.write_text(json.dumps(_configuration(address, most=most, store_bytes=store_bytes)))
    words = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=0"]
    words += [f"--port={address.rpartition(':')[2]}", f"--object-store-memory={store_bytes}"]
    words += ["--include-dashboard=false", f"--autoscaling-config={written}"]
    env = os.environ | {
        "RAY_FAKE_CLUSTER": "1",
        "AUTOSCALER_UPDATE_INTERVAL_S": "1",
        "RAY_enable_autoscaler_v2": "0",
        "RAY_OVERRIDE_NODE_ID_FOR_TESTING": HEAD,
    }
    head = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield address
    finally:
        processes = [psutil.Process(head.pid), *psutil.Process(head.pid).children(recursive=True)]
        for process in processes:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, timeout=10)
        head.wait()


def connect(address: str, *, patience_s: float) -> None:
    """Connect to a cluster as soon as it is there."""
    import ray

    end_s = time.monotonic() + patience_s
    while True:
        try:
            ray.init(address=address, namespace="vidence", log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError):
            if time.monotonic() > end_s:
                raise
            time.sleep(0.5)
        else:
            return
