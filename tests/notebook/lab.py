"""lab.py PICTURE: a notebook of gpulua in JupyterLab, run and looked at by headless Chromium, whose picture is for people to look at.
tests/notebook/with-jupyter.sh runs it."""
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

CELLS = {
    "S = gpu.linspace(50, 150, 200)\ncall = gpu.maximum(S - 100, 0)\ncall:sum()": "pre",
    "gpu.plot.line(S, call, {label = 'call', title = 'Payoffs', xlabel = 'price'}):line(S, call / 2, {label = 'half'})":
        ".vega-embed canvas, .vega-embed svg",
    "gpu.rand(3, 4)": "table td",
    "gpu.profile(function() return (gpu.rand(1e6) * 2):sum() end)": "table th",
    "x = gpu.linspace(-3, 3, 160)\ndisplay(gpu.exp(-(x ^ 2 + x:reshape(160, 1) ^ 2)), {colormap = 'viridis'})": "img",
    "error 'a mistake'": "text=stack traceback",
}


def notebook():
    cells = [{"cell_type": "code", "id": f"cell{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": code}
             for i, code in enumerate(CELLS)]
    kernel = {"name": "gpulua", "display_name": "gpulua", "language": "lua"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_server(address):
    for _ in range(60):
        try:
            return urllib.request.urlopen(address + "/api", timeout=2)
        except OSError:
            time.sleep(1)
    raise SystemExit("JupyterLab does not start")


def look(address, picture):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 1500})
        page.goto(address + "/lab/tree/notebook.ipynb?reset", wait_until="domcontentloaded", timeout=90000)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90000)
        page.wait_for_selector("text=gpulua | Idle", timeout=60000)
        page.click(".lm-MenuBar-itemLabel:text-is('Run')")
        page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
        for i, (code, shown) in enumerate(CELLS.items()):
            output = page.locator(".jp-Notebook .jp-Cell").nth(i).locator(".jp-OutputArea-output").first
            output.locator(shown).first.wait_for(timeout=30000)
            print("shown:", code.splitlines()[-1])
        time.sleep(1)
        page.screenshot(path=picture)
        browser.close()


with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "notebook.ipynb").write_text(json.dumps(notebook()))
    port = free_port()
    server = subprocess.Popen(
        ["jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        await_server(address)
        look(address, sys.argv[1])
    finally:
        server.terminate()
        server.wait(30)
