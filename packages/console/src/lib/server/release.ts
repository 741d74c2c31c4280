/** The file that this page began with; its name is another one in each release. */
const OWN = globalThis.document?.querySelector<HTMLScriptElement>('script[type="module"][src]')?.getAttribute("src");

/** Names the release of this page, so that it is reloaded for the next one once only. */
export const ownRelease = OWN ?? "";

const CHECK_MS = 10_000;

/** How the server's console compares with this page; undefined when the server does not say. */
export async function serverRelease(): Promise<"same" | "other" | undefined> {
  if (!OWN) return undefined;
  try {
    const answer = await fetch("/", { cache: "no-cache", signal: AbortSignal.timeout(CHECK_MS) });
    const text = answer.ok ? await answer.text() : "";
    // A page of something in between is no console.
    if (!text.includes('<script type="module"')) return undefined;
    return text.includes(`"${OWN}"`) ? "same" : "other";
  } catch {
    return undefined;
  }
}
