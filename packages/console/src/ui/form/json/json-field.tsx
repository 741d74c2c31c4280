import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { Suspense, type ReactNode } from "react";
import { GroupFrame } from "../rows/group-frame.tsx";
import { laidOut } from "./laid-out.ts";
import { useTexts } from "../../texts.ts";
import { late } from "../../late/late.tsx";

const JsonEditor = late(async () => (await import("./json-editor.tsx")).JsonEditor);

/** JSON as text, with its errors marked in place. */
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
