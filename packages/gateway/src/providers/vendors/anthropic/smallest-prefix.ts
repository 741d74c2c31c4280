/** Smallest prefixes in tokens by kind and version, gathered in November 2026; shorter ones are not cached, silently. */
const SMALLEST: Readonly<Record<string, number>> = {
  "opus-5": 512,
  "fable-5": 512,
  "opus-4-8": 1024,
  "sonnet-5": 1024,
  "sonnet-4-6": 1024,
  "sonnet-4-5": 1024,
  "sonnet-4": 1024,
  "opus-4-1": 1024,
  "opus-4": 1024,
  "opus-4-7": 2048,
  "opus-4-6": 4096,
  "opus-4-5": 4096,
  "haiku-4-5": 4096,
};
/** Models that are not known yet. */
const CAUTIOUS = 4096;
const NAME = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;
const OLD_NAME = /claude-(\d)(?:[-.]\d)?-(?:opus|sonnet|haiku)/;

/** Returns the smallest prefix that a Claude model caches, in any host's spelling; undefined for other models. */
export function findSmallestPrefix(model: string): number | undefined {
  const [, kind = "", major = "", minor] = NAME.exec(model) ?? [];
  if (kind === "") return OLD_NAME.test(model) ? 2048 : undefined;
  return SMALLEST[minor === undefined ? `${kind}-${major}` : `${kind}-${major}-${minor}`] ?? CAUTIOUS;
}
