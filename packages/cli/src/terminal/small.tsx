import { Box, Text, useApp, useInput } from "ink";

/** The smallest terminal size that every screen fits. */
const LEAST = { columns: 60, rows: 15 };

interface Size {
  readonly columns: number;
  readonly rows: number;
}

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < LEAST.columns || rows < LEAST.rows;
}

/** Replaces a screen that does not fit until the terminal is enlarged. */
export function TooSmall({ columns, rows }: Size) {
  const { exit } = useApp();
  useInput((input) => void (input === "q" && exit()));
  return (
    <Box flexDirection="column" height={Math.max(1, rows - 1)} overflow="hidden">
      <Text wrap="truncate">
        Needs {LEAST.columns}x{LEAST.rows}, has {columns}x{rows}.
      </Text>
    </Box>
  );
}
