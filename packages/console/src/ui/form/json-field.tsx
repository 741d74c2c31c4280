import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { lazy, Suspense, type ReactNode } from "react";
import { GroupFrame } from "./group-frame.tsx";
import { useTexts } from "../texts.ts";

const JsonEditor = lazy(async () => ({ default: (await import("./json-editor.tsx")).JsonEditor }));

/** Beyond this the text stays as it is: formatting it would freeze the page. */
const LONGEST_LAYOUT = 200_000;

/** The same JSON, one member a line; undefined when it is none. Numbers keep their digits, so only space changes. */
export function laidOut(text: string): string | undefined {
  if (text.length > LONGEST_LAYOUT) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const pieces = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let depth = 0;
  let result = "";
  pieces.forEach((piece, index) => {
    const isEmpty = /[{[]/.test(piece) && /^[}\]]$/.test(pieces[index + 1] ?? "");
    const line = () => `\n${"  ".repeat(depth)}`;
    if (/^[}\]]$/.test(piece)) {
      depth -= 1;
      result += /[{[]$/.test(result) ? piece : `${line()}${piece}`;
    } else if (/^[{[]$/.test(piece)) {
      depth += 1;
      result += isEmpty ? piece : `${piece}${line()}`;
    } else if (piece === ",") result += `,${line()}`;
    else result += piece === ":" ? ": " : piece;
  });
  return result;
}

/** JSON as text, with its faults marked where they are. */
export function JsonField(props: {
  readonly label: string;
  readonly value: string;
  onChange(text: string): void;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly aside?: ReactNode;
}) {
  const t = useTexts();
  const tidy = laidOut(props.value);
  return (
    <GroupFrame {...props}>
      <Box
        width="full"
        borderWidth="1px"
        borderColor={props.error === undefined ? "border.input" : "border.error"}
        borderRadius="l2"
        overflow="hidden"
        minH="9.25rem"
        _focusWithin={{ outline: "2px solid", outlineColor: "fairway.focusRing", outlineOffset: "1px" }}
      >
        <Suspense
          fallback={
            <Text p="3" color="fg.muted">
              {t("loading")}
            </Text>
          }
        >
          <JsonEditor label={props.label} value={props.value} onChange={props.onChange} />
        </Suspense>
      </Box>
      <Flex>
        <Button
          size="2xs"
          variant="ghost"
          disabled={tidy === undefined || tidy === props.value}
          onClick={() => tidy !== undefined && props.onChange(tidy)}
        >
          {t("layOut")}
        </Button>
      </Flex>
    </GroupFrame>
  );
}
