import { Box, Button, Flex } from "@chakra-ui/react";
import { useId, useState, type KeyboardEvent } from "react";
import { CopyButton } from "./copy-button.tsx";

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
  /** What is copied, where it differs from what is shown: the key in clear. */
  readonly copied?: string;
}

/** Examples in several languages, one shown at a time. */
export function CodeTabs(props: {
  readonly label: string;
  readonly copyLabel: string;
  readonly snippets: readonly Snippet[];
}) {
  const [chosen, setChosen] = useState(0);
  const base = useId();
  const snippet = props.snippets[chosen];
  if (!snippet) return null;

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = (chosen + step + props.snippets.length) % props.snippets.length;
    setChosen(next);
    document.getElementById(`${base}-tab-${next}`)?.focus();
  }

  return (
    <Box borderWidth="1px" borderRadius="l3" overflow="hidden" bg="bg.panel">
      <Flex
        role="tablist"
        aria-label={props.label}
        onKeyDown={onKeyDown}
        borderBottomWidth="1px"
        px="1.5"
        py="1.5"
        gap="1"
        overflowX="auto"
      >
        {props.snippets.map((entry, index) => (
          <Button
            key={entry.id}
            id={`${base}-tab-${index}`}
            role="tab"
            size="xs"
            variant="ghost"
            aria-selected={index === chosen}
            aria-controls={`${base}-panel`}
            tabIndex={index === chosen ? 0 : -1}
            color={index === chosen ? "fairway.fg" : "fg.muted"}
            bg={index === chosen ? "fairway.subtle" : "transparent"}
            onClick={() => setChosen(index)}
          >
            {entry.label}
          </Button>
        ))}
      </Flex>
      <Box id={`${base}-panel`} role="tabpanel" aria-labelledby={`${base}-tab-${chosen}`} position="relative">
        <Box position="absolute" top="2" insetEnd="2" bg="bg.panel" borderRadius="l2" zIndex="1">
          <CopyButton text={snippet.copied ?? snippet.code} label={props.copyLabel} />
        </Box>
        <Box
          as="pre"
          tabIndex={0}
          fontFamily="mono"
          textStyle="xs"
          lineHeight="18px"
          p="4"
          pe="12"
          overflowX="auto"
          m="0"
        >
          {snippet.code}
        </Box>
      </Box>
    </Box>
  );
}
