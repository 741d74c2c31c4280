// Reads the digest of a tag from its registry, with the OCI distribution API.

/** Manifest types: lists of platforms first, because one digest then applies to all of them. */
const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");
const DOCKER_HUB = "registry-1.docker.io";
const ANSWER_MS = 30_000;

interface Reference {
  readonly host: string;
  readonly name: string;
  readonly tag: string;
}

/** Parses `[host/]name[:tag]` like Docker: the default host is Docker Hub, the default tag `latest`. */
export function parseReference(image: string): Reference {
  const [first = "", ...rest] = image.split("/");
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const [name = "", tag = "latest"] = (hasHost ? rest.join("/") : image).split(":");
  if (hasHost) return { host: first, name, tag };
  return { host: DOCKER_HUB, name: rest.length === 0 ? `library/${name}` : name, tag };
}

/** Returns `sha256:...` of the image today. Throws the registry's error, with the image. */
export async function digestInRegistry(image: string): Promise<string> {
  const { host, name, tag } = parseReference(image);
  const scheme = /^(?:localhost|127\.[\d.]+)(?::\d+)?$/.test(host) ? "http" : "https";
  const url = `${scheme}://${host}/v2/${name}/manifests/${tag}`;
  let answer = await ask(url, image);
  const challenge = answer.headers.get("www-authenticate");
  if (answer.status === 401 && challenge !== null) answer = await ask(url, image, await fetchToken(challenge, image));
  if (!answer.ok) throw new Error(`${host} answered ${answer.status} for ${image}: check the name and the tag`);
  const digest = answer.headers.get("docker-content-digest") ?? "";
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${host} names no digest of ${image}`);
  return digest;
}

async function ask(url: string, image: string, token?: string): Promise<Response> {
  const headers = { accept: MANIFESTS, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  try {
    return await fetch(url, { method: "HEAD", headers, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (cause) {
    throw new Error(`the registry of ${image} cannot be reached at ${new URL(url).host}`, { cause });
  }
}

/** Returns a read token, which public registries issue to everyone. */
async function fetchToken(challenge: string, image: string): Promise<string> {
  const named = new Map<string, string>();
  for (const [, name = "", value = ""] of challenge.matchAll(/(\w+)="([^"]*)"/g)) named.set(name, value);
  const url = URL.parse(named.get("realm") ?? "");
  if (!url)
    throw new Error(`the registry of ${image} wants a password: pull the image with Docker, and write its digest`);
  for (const [name, value] of named) if (name !== "realm") url.searchParams.set(name, value);
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  const { token, access_token: other } = (answer.ok ? await answer.json() : {}) as Record<string, string | undefined>;
  const found = token ?? other;
  if (found === undefined) throw new Error(`${url.host} gave no token for ${image} (status ${answer.status})`);
  return found;
}
