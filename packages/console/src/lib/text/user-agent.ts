/** A browser names those whose pages it wants as well, so its own name is looked for before theirs. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPod)\b/, "iOS"],
  [/\biPad\b/, "iPadOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];
const MAX_PRODUCT = 40;

export interface Client {
  readonly program: string;
  /** Undefined if the program does not say. */
  readonly system: string | undefined;
}

const find = (names: typeof BROWSERS, text: string) => names.find(([sign]) => sign.test(text))?.[1];

/** Returns which program a `User-Agent` means, and on which system it runs; undefined for an empty one. */
export function readUserAgent(text: string): Client | undefined {
  // Programs such as curl begin with their own name.
  const [product = ""] = /^[^\s/(]+/.exec(text.trim()) ?? [];
  const program = find(BROWSERS, text) ?? product.slice(0, MAX_PRODUCT);
  return program === "" ? undefined : { program, system: find(SYSTEMS, text) };
}
