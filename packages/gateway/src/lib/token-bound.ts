/** Kinds of ASCII characters; tokens begin where one kind follows another. */
const LOWER = 0;
const BREAK = 4;
const OTHER = 6;

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (character >= "a" && character <= "z") return LOWER;
  if (character >= "A" && character <= "Z") return 1;
  if (character >= "0" && character <= "9") return 2;
  if (character === " ") return 3;
  return code < 32 || code === 127 ? BREAK : 5;
});

/** Tokens that a character adds, by the kind before it (row) and its own: lower, upper, digit, space, break, mark. */
const STEPS: readonly (readonly number[])[] = [
  [0.12, 1.25, 1.1, 0.05, 0.6, 0.9],
  [0.6, 0.6, 1.1, 0.05, 0.6, 0.9],
  [1.1, 1.1, 0.4, 0.05, 0.6, 0.9],
  [1, 1, 1.6, 0.2, 0.6, 1],
  [1, 1, 1.2, 0.5, 0.5, 0.9],
  [1, 1, 1, 0.3, 0.7, 0.8],
  [1, 1, 1, 0.2, 0.6, 0.9],
];
/** The same in one row: the kind before, eight places wide, then its own. */
const STEP_AT = Float64Array.from({ length: STEPS.length * 8 }, (_, at) => STEPS[at >> 3]?.[at & 7] ?? 0);
/** Lower-case letters past the fifth of a run: names and long words fall into pieces. */
const LONG_RUN = 4;
const LONG_RUN_STEP = 0.3;
const LOWER_AFTER_LOWER = STEP_AT[LOWER] as number;

/** Tokens per UTF-16 unit up to the given code, by the worse of the two encoders. */
const SCRIPTS: readonly (readonly [below: number, tokens: number])[] = [
  [0x0250, 1.5],
  [0x0370, 1.5],
  [0x0400, 1.15],
  [0x0530, 0.7],
  [0x0590, 2.4],
  [0x0600, 1.4],
  [0x0700, 1],
  [0x0900, 2],
  [0x0980, 1.4],
  [0x0e00, 1.7],
  [0x0e80, 1.3],
  [0x10a0, 2.3],
  [0x1100, 2.4],
  [0x1200, 3],
  [0x1780, 3],
  [0x1800, 2],
  [0x1e00, 3],
  [0x1f00, 1.2],
  [0x3040, 2],
  [0x3100, 1.3],
  [0x3400, 2],
  [0xa000, 1.7],
  [0xac00, 3],
  [0xd800, 1.5],
  [0x10000, 2],
];

/** The same by the upper twelve bits of the code. */
const SCRIPT_STEPS = Float64Array.from(
  { length: 0x1000 },
  (_, block) => SCRIPTS.find(([below]) => block << 4 < below)?.[1] ?? 0,
);

/** Longer texts are judged by windows spread over them. */
const WINDOWS = 32;
const WINDOW = 64;
const READ_WHOLE_AT_MOST = WINDOWS * WINDOW;
/** For what lies between the windows. */
const SAMPLING_MARGIN = 1.15;

/**
 * An upper estimate of a text's tokens, for reservations and never for a bill. Reads 2,048 characters at most (some 7 us).
 * Calibrated on prose in 25 scripts, code, tables and encoded data against o200k_base and cl100k_base: never below the
 * greater count there, 1.1 to 2 times above it. Text made to mislead can exceed it.
 */
export function promptTokenBound(text: string): number {
  const { length } = text;
  if (length <= READ_WHOLE_AT_MOST) return Math.ceil(tokensOf(text, 0, length));
  const stride = (length - WINDOW) / (WINDOWS - 1);
  let tokens = 0;
  for (let at = 0; at < WINDOWS; at += 1) {
    const from = Math.floor(at * stride);
    tokens += tokensOf(text, from, from + WINDOW);
  }
  return Math.ceil((tokens / READ_WHOLE_AT_MOST) * length * SAMPLING_MARGIN);
}

function tokensOf(text: string, from: number, to: number): number {
  let tokens = 0;
  let before = BREAK;
  let run = 0;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 128) {
      tokens += SCRIPT_STEPS[code >> 4] as number;
      before = OTHER;
      continue;
    }
    const kind = KINDS[code] as number;
    if (kind === LOWER && before === LOWER) {
      run += 1;
      tokens += run > LONG_RUN ? LONG_RUN_STEP : LOWER_AFTER_LOWER;
      continue;
    }
    run = 0;
    tokens += STEP_AT[(before << 3) | kind] as number;
    before = kind;
  }
  return tokens;
}
