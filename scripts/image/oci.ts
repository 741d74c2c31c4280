// Writes an OCI image as one archive. `docker load`, `podman load`, `ctr images import` and `skopeo copy oci-archive:…`
// read it.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { SETTINGS } from "./contents.ts";
import { tarFiles } from "./tar.ts";

interface ImageSource {
  readonly tag: string;
  readonly architecture: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Tar archives, the lowest first. */
  readonly layers: readonly Buffer[];
}

interface Image {
  readonly archive: Buffer;
  readonly digest: string;
}

const NAME = "docker.io/fairway/gateway";
const TYPE = "application/vnd.oci.image";

const hashBytes = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

export function buildImage(source: ImageSource): Image {
  const files: Record<string, Buffer> = { "oci-layout": json({ imageLayoutVersion: "1.0.0" }) };
  const store = (mediaType: string, bytes: Buffer) => {
    const digest = hashBytes(bytes);
    files[`blobs/${digest.replace(":", "/")}`] = bytes;
    return { mediaType, digest, size: bytes.length };
  };
  const layers = source.layers.map((layer) => store(`${TYPE}.layer.v1.tar+gzip`, gzipSync(layer)));
  const config = store(`${TYPE}.config.v1+json`, json(buildConfig(source)));
  const mediaType = `${TYPE}.manifest.v1+json`;
  const manifest = store(mediaType, json({ schemaVersion: 2, mediaType, config, layers }));
  const annotations = {
    "io.containerd.image.name": `${NAME}:${source.tag}`,
    "org.opencontainers.image.ref.name": source.tag,
  };
  files["index.json"] = json({
    schemaVersion: 2,
    mediaType: `${TYPE}.index.v1+json`,
    manifests: [{ ...manifest, annotations }],
  });
  return { archive: tarFiles(files), digest: manifest.digest };
}

function buildConfig({ architecture, labels, layers }: ImageSource) {
  return {
    architecture,
    os: "linux",
    config: {
      User: SETTINGS.user,
      Env: [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        ...Object.entries(SETTINGS.env).map(([name, value]) => `${name}=${value}`),
      ],
      Entrypoint: SETTINGS.entrypoint,
      WorkingDir: SETTINGS.workdir,
      ExposedPorts: Object.fromEntries(SETTINGS.ports.map((port) => [`${port}/tcp`, {}])),
      Volumes: { [SETTINGS.volume]: {} },
      Labels: labels,
    },
    rootfs: { type: "layers", diff_ids: layers.map(hashBytes) },
  };
}
