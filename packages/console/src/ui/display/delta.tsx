import { Text } from "@chakra-ui/react";
import type { ReactNode } from "react";

interface DeltaProps {
  /** How much larger the number became; 0 = not at all. */
  readonly by: number;
  /** What a larger number means: `plain` numbers are neither good nor bad. */
  readonly more: "good" | "bad" | "plain";
  readonly children: ReactNode;
}

/** Returns the meaning of a change. */
export function judgeChange(by: number, more: DeltaProps["more"]): "good" | "bad" | "plain" {
  if (by === 0 || more === "plain") return "plain";
  return by > 0 === (more === "good") ? "good" : "bad";
}

const COLOUR = { good: "fg.success", bad: "fg.error", plain: "fg.muted" } as const;

/** A change with its direction and its meaning; the text says it, too. */
export function Delta({ by, more, children }: DeltaProps) {
  return (
    <Text as="span" color={COLOUR[judgeChange(by, more)]}>
      <span aria-hidden="true">{by > 0 ? "▲ " : by < 0 ? "▼ " : ""}</span>
      {children}
    </Text>
  );
}
