import { safeHref } from "../../lib/text/safe-href.ts";

interface Access {
  /** Without the `sk-` prefix. */
  readonly key: string;
  /** Address of this gateway, as applications use it. */
  readonly address: string;
}

/**
 * A link with a token: templates have places for key and address, plain addresses get both in the fragment, which no
 * server sees.
 */
function filled(link: string, { key, address }: Access): string {
  const secret = `sk-${key}`;
  if (/\{(?:key|address)\}/.test(link)) {
    return link.replaceAll("{key}", secret).replaceAll("{address}", encodeURIComponent(address));
  }
  const settings = encodeURIComponent(JSON.stringify({ key: secret, url: address }));
  return `${link.replace(/\/+$/, "")}/#/?settings=${settings}`;
}

/** Where a chat client of the web opens with a token. Undefined for links that no browser should follow. */
export function chatAddress(link: string, access: Access): string | undefined {
  return safeHref(filled(link, access));
}

const SCRIPTS: ReadonlySet<string> = new Set(["javascript:", "data:", "vbscript:", "file:", "blob:"]);

/** As `chatAddress`, for links that installed applications open too, such as `opencat:`. */
export function appAddress(link: string, access: Access): string | undefined {
  const text = filled(link, access);
  const url = URL.parse(text);
  return url && !SCRIPTS.has(url.protocol) ? text : undefined;
}
