/** The first script of this page; its name changes with each release. */
const OWN = globalThis.document?.querySelector<HTMLScriptElement>('script[type="module"][src]')?.getAttribute("src");

/** Identifies the release of this page, so that it is reloaded for the next one only once. */
export const ownRelease = OWN ?? "";

const CHECK_MS = 10_000;

/** Compares the server's console with this page; undefined if the server does not answer. */
export async function serverRelease(): Promise<"same" | "other" | undefined> {
  if (!OWN) return undefined;
  try {
    const answer = await fetch("/", { cache: "no-cache", signal: AbortSignal.timeout(CHECK_MS) });
    const text = answer.ok ? await answer.text() : "";
    // A page from a proxy is not a console.
    if (!text.includes('<script type="module"')) return undefined;
    return text.includes(`"${OWN}"`) ? "same" : "other";
  } catch {
    return undefined;
  }
}
