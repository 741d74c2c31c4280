/** Kinds of ASCII characters; tokens begin where the kind changes. */
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

/** Tokens that a character adds, by the previous kind (row) and its own: lower, upper, digit, space, break, mark. */
const STEPS: readonly (readonly number[])[] = [
  [0.12, 1.25, 1.1, 0.05, 0.6, 0.9],
  [0.6, 0.6, 1.1, 0.05, 0.6, 0.9],
  [1.1, 1.1, 0.4, 0.05, 0.6, 0.9],
  [1, 1, 1.6, 0.2, 0.6, 1],
  [1, 1, 1.2, 0.5, 0.5, 0.9],
  [1, 1, 1, 0.3, 0.7, 0.8],
  [1, 1, 1, 0.2, 0.6, 0.9],
];
/** Lower-case letters after the fifth of a run count separately, because names and long words are split. */
const LONG_RUN = 4;
const LONG_RUN_STEP = 0.3;

/** Tokens are summed in hundredths; all steps are whole numbers of hundredths. */
const UNIT = 100;
/** States: the previous kind, or the length of the run of lower-case letters after its first. */
const STATES = STEPS.length + LONG_RUN + 1;
/** For each state, eight entries wide, and the next kind: the added tokens and the next state. */
const STEP_AT = new Uint16Array(STATES * 8);
const STATE_AFTER = new Uint8Array(STATES * 8);
for (let state = 0; state < STATES; state += 1) {
  const before = state < STEPS.length ? state : LOWER;
  const run = before === LOWER ? Math.max(0, state - STEPS.length + 1) : 0;
  for (let kind = 0; kind < OTHER; kind += 1) {
    const isRun = before === LOWER && kind === LOWER;
    const step = isRun && run >= LONG_RUN ? LONG_RUN_STEP : (STEPS[before]?.[kind] ?? 0);
    STEP_AT[(state << 3) | kind] = Math.round(step * UNIT);
    STATE_AFTER[(state << 3) | kind] = isRun ? STEPS.length + Math.min(run, LONG_RUN) : kind;
  }
}

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

/** The same in hundredths, indexed by the upper twelve bits of the code. */
const SCRIPT_STEPS = Uint16Array.from({ length: 0x1000 }, (_, block) =>
  Math.round((SCRIPTS.find(([below]) => block << 4 < below)?.[1] ?? 0) * UNIT),
);

/** Longer texts are estimated from windows spread over them. */
const WINDOWS = 32;
const WINDOW = 64;
const READ_WHOLE_AT_MOST = WINDOWS * WINDOW;
/** Margin for the text between the windows. */
const SAMPLING_MARGIN = 1.15;

/**
 * UTF-16 units of the checked text. The text is copied natively once and then read as numbers: texts have so many
 * internal representations that reading them character by character takes ten times as long.
 */
const units = new Uint16Array(READ_WHOLE_AT_MOST);
const unitBytes = Buffer.from(units.buffer);

/**
 * Returns an upper estimate of a text's tokens, for reservations and never for a bill. Reads 2,048 characters at most
 * (about 10 us). Calibrated on prose in 25 scripts, code, tables and encoded data against o200k_base and cl100k_base:
 * never below the greater count there, 1.1 to 2 times above it. A text that is crafted to mislead can exceed it.
 */
export function promptTokenBound(text: string): number {
  const { length } = text;
  if (length <= READ_WHOLE_AT_MOST) return Math.ceil(boundTokens(unitBytes.write(text, "utf16le")));
  const stride = (length - WINDOW) / (WINDOWS - 1);
  let tokens = 0;
  for (let at = 0; at < WINDOWS; at += 1) {
    const from = Math.floor(at * stride);
    tokens += boundTokens(unitBytes.write(text.slice(from, from + WINDOW), "utf16le"));
  }
  return Math.ceil((tokens / READ_WHOLE_AT_MOST) * length * SAMPLING_MARGIN);
}

/** The same for a text in pieces. A short one is put together where it is read, so that no joined text is created. */
export function joinedTokenBound(pieces: readonly string[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length > READ_WHOLE_AT_MOST) return promptTokenBound(pieces.join(""));
  let bytes = 0;
  for (const piece of pieces) bytes += unitBytes.write(piece, bytes, "utf16le");
  return Math.ceil(boundTokens(bytes));
}

/** Returns the tokens of the text whose first `bytes` bytes were copied to `units`. */
function boundTokens(bytes: number): number {
  const count = bytes >> 1;
  let tokens = 0;
  let state = BREAK;
  for (let at = 0; at < count; at += 1) {
    const code = units[at] as number;
    if (code >= 128) {
      tokens += SCRIPT_STEPS[code >> 4] as number;
      state = OTHER;
      continue;
    }
    const step = (state << 3) | (KINDS[code] as number);
    tokens += STEP_AT[step] as number;
    state = STATE_AFTER[step] as number;
  }
  return tokens / UNIT;
}
