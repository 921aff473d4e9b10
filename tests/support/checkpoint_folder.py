"""A safetensors checkpoint in parts that a test may change before it is written again."""
import copy
import json
import os
import struct

ST, INDEX, CONFIG = "model.safetensors", "model.safetensors.index.json", "config.json"


def tensors(header):
    return {name: entry for name, entry in header.items() if name != "__metadata__"}


class Folder:
    """A safetensors checkpoint in parts that a case may change before it is written."""

    def __init__(self, source):
        with open(os.path.join(source, ST), "rb") as f:
            image = f.read()
        n = struct.unpack("<Q", image[:8])[0]
        self.header, self.data = json.loads(image[8:8 + n]), image[8 + n:]
        with open(os.path.join(source, CONFIG), encoding="utf-8") as f:
            self.config = json.load(f)
        self.header_text = self.length = self.config_text = self.cut = None
        self.padding, self.files, self.single = b"", {}, True

    def image(self):
        text = self.header_text or json.dumps(self.header).encode()
        text += self.padding
        image = struct.pack("<Q", len(text) if self.length is None else self.length) + text + self.data
        return image[:self.cut]

    def add(self, name, dtype, shape, data):
        start = len(self.data)
        self.header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, start + len(data)]}
        self.data += data

    def values(self, name):
        """A stored tensor as float32 numbers."""
        import numpy
        entry = self.header[name]
        data = self.data[slice(*entry["data_offsets"])]
        if entry["dtype"] == "BF16":
            data = (numpy.frombuffer(data, "<u2").astype("<u4") << 16).tobytes()
        return numpy.frombuffer(data, "<f2" if entry["dtype"] == "F16" else "<f4").astype("<f4")

    def replace(self, name, dtype, values):
        """Stores other numbers of the same shape, as F32 or F16."""
        shape = self.header[name]["shape"]
        self.drop(name)
        self.add(name, dtype, shape, values.astype({"F32": "<f4", "F16": "<f2"}[dtype]).tobytes())

    def rename(self, change):
        self.header = {name if name == "__metadata__" else change(name): entry for name, entry in self.header.items()}

    def drop(self, name):
        """Removes a tensor with its bytes, so that nothing but the tensor is missing."""
        start, end = self.header.pop(name)["data_offsets"]
        self.data = self.data[:start] + self.data[end:]
        for entry in tensors(self.header).values():
            if entry["data_offsets"][0] >= end:
                entry["data_offsets"] = [at - (end - start) for at in entry["data_offsets"]]

    def split(self):
        """Two shards and an index, which it returns for a case to change."""
        names, shards = sorted(tensors(self.header)), {}
        for number, part in enumerate((names[:5], names[5:]), 1):
            name, header, data = f"model-0000{number}-of-00002.safetensors", {}, b""
            for tensor in part:
                entry = copy.deepcopy(self.header[tensor])
                bytes_ = self.data[slice(*entry["data_offsets"])]
                entry["data_offsets"] = [len(data), len(data) + len(bytes_)]
                header[tensor], data = entry, data + bytes_
                shards[tensor] = name
            text = json.dumps(header).encode()
            self.files[name] = struct.pack("<Q", len(text)) + text + data
        self.single = False
        return {"metadata": {"total_size": len(self.data)}, "weight_map": shards}

    def put_index(self, index):
        self.files[INDEX] = index if isinstance(index, bytes) else json.dumps(index).encode()

    def write(self, path):
        os.makedirs(path)
        files = dict(self.files)
        if self.single:
            files.setdefault(ST, self.image())
        files.setdefault(CONFIG, self.config_text or json.dumps(self.config).encode())
        for name, content in files.items():
            if content is not None:
                with open(os.path.join(path, name), "wb") as f:
                    f.write(content)
