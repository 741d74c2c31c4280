import { safeHref } from "../../lib/text/safe-href.ts";

interface Access {
  /** Without the `sk-` prefix. */
  readonly key: string;
  /** Address of this gateway, as applications use it. */
  readonly address: string;
}

/**
 * Returns a link with a token: templates have placeholders for key and address; plain addresses get both in the
 * fragment, which is not sent to servers.
 */
function filled(link: string, { key, address }: Access): string {
  const secret = `sk-${key}`;
  if (/\{(?:key|address)\}/.test(link)) {
    return link.replaceAll("{key}", secret).replaceAll("{address}", encodeURIComponent(address));
  }
  const settings = encodeURIComponent(JSON.stringify({ key: secret, url: address }));
  return `${link.replace(/\/+$/, "")}/#/?settings=${settings}`;
}

/**
 * Returns the address at which a web chat client opens with a token. Undefined for links that no browser should follow.
 */
export function chatAddress(link: string, access: Access): string | undefined {
  return safeHref(filled(link, access));
}

const SCRIPTS: ReadonlySet<string> = new Set(["javascript:", "data:", "vbscript:", "file:", "blob:"]);

/** Works like `chatAddress`, and also for links that installed applications open, such as `opencat:`. */
export function appAddress(link: string, access: Access): string | undefined {
  const text = filled(link, access);
  const url = URL.parse(text);
  return url && !SCRIPTS.has(url.protocol) ? text : undefined;
}
