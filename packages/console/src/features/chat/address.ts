import { safeHref } from "../../lib/markdown.ts";

interface Access {
  /** Without the `sk-` prefix. */
  readonly key: string;
  /** Address of this gateway, as applications use it. */
  readonly address: string;
}

/**
 * Where a chat client opens with a token: templates have places for key and address, plain addresses get both in the
 * fragment, which no server sees. Undefined for links that no browser should follow.
 */
export function chatAddress(link: string, { key, address }: Access): string | undefined {
  const secret = `sk-${key}`;
  if (/\{(?:key|address)\}/.test(link)) {
    const filled = link.replaceAll("{key}", secret).replaceAll("{address}", encodeURIComponent(address));
    return safeHref(filled);
  }
  const settings = encodeURIComponent(JSON.stringify({ key: secret, url: address }));
  return safeHref(`${link.replace(/\/+$/, "")}/#/?settings=${settings}`);
}
