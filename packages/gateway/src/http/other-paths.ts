/** Paths of the model API without the version in front, as clients request them if their base URL lacks it. */
const UNVERSIONED =
  /^\/(?:models|chat\/completions|completions|responses|messages|embeddings|rerank|moderations|images\/[a-z]+|audio\/[a-z]+|health|props|slots|tokenize)(?:\/|$)/;
const OLD_CONSOLE = /^\/(?:console|panel)(?:\/([\w/-]*))?$/;
/** Pages of compatible gateways that have another name here. */
const RENAMED: Readonly<Record<string, string>> = {
  personal: "setting",
  models: "pricing",
  dashboard: "detail",
  profile: "setting",
};

/** Returns the hint for a program that requests part of the model API without `/v1`; undefined for all other paths. */
export function unversionedPath(path: string): string | undefined {
  if (!UNVERSIONED.test(path)) return undefined;
  return `${path} is not here: the base URL of OpenAI's protocol ends in /v1, so a client requests /v1${path}`;
}

/** Returns where a page of a compatible gateway is now, with the query; undefined for all other paths. */
export function movedPage(url: string): string | undefined {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const [, rest] = OLD_CONSOLE.exec(path) ?? [];
  if (rest === undefined && !/^\/(?:console|panel)\/?$/.test(path)) return undefined;
  // Two leading slashes would lead to another host.
  const page = (rest ?? "").replace(/^\/+|\/+$/g, "");
  return `/${RENAMED[page] ?? page}${mark < 0 ? "" : url.slice(mark)}`;
}
