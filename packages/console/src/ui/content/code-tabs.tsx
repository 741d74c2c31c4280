import { Box, Button, Flex } from "@chakra-ui/react";
import { useId, useState, type KeyboardEvent } from "react";
import { CopyButton } from "./copy-button.tsx";

export interface Snippet {
  readonly id: string;
  /** Snippets with the same label share a tab. */
  readonly label: string;
  /** Distinguishes the snippets of a tab. */
  readonly variant?: string;
  readonly code: string;
  /** The text to copy if it differs from the visible one: the plain key. */
  readonly copied?: string;
}

interface Choice {
  readonly label: string;
  readonly isChosen: boolean;
  choose(): void;
}

function TabButton(props: { readonly id: string; readonly panel: string; readonly choice: Choice }) {
  const { label, isChosen, choose } = props.choice;
  return (
    <Button
      id={props.id}
      role="tab"
      size="xs"
      variant="ghost"
      flex="none"
      aria-selected={isChosen}
      aria-controls={props.panel}
      tabIndex={isChosen ? 0 : -1}
      color={isChosen ? "fairway.fg" : "fg.muted"}
      bg={isChosen ? "fairway.subtle" : "transparent"}
      onClick={choose}
    >
      {label}
    </Button>
  );
}

function Tabs(props: { readonly label: string; readonly panel: string; readonly choices: readonly Choice[] }) {
  const base = useId();
  const { choices } = props;

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = (choices.findIndex(({ isChosen }) => isChosen) + step + choices.length) % choices.length;
    choices[next]?.choose();
    document.getElementById(`${base}-${next}`)?.focus();
  }

  return (
    <Flex role="tablist" aria-label={props.label} onKeyDown={onKeyDown} px="1.5" py="1.5" gap="1" wrap="wrap">
      {choices.map((choice, index) => (
        <TabButton key={choice.label} id={`${base}-${index}`} panel={props.panel} choice={choice} />
      ))}
    </Flex>
  );
}

/** Examples in several languages, one shown at a time. */
export function CodeTabs(props: {
  readonly label: string;
  readonly copyLabel: string;
  readonly snippets: readonly Snippet[];
}) {
  const [label, setLabel] = useState<string>();
  const [variant, setVariant] = useState<string>();
  const panel = useId();
  const labels = [...new Set(props.snippets.map((snippet) => snippet.label))];
  const shown = label !== undefined && labels.includes(label) ? label : labels[0];
  const group = props.snippets.filter((snippet) => snippet.label === shown);
  // The language that was chosen for one client applies to the others.
  const snippet = group.find((entry) => entry.variant === variant) ?? group[0];
  if (!snippet) return null;
  const choices = labels.map((name) => ({ label: name, isChosen: name === shown, choose: () => setLabel(name) }));
  return (
    <Box borderWidth="1px" borderRadius="l3" overflow="hidden" bg="bg.panel">
      <Box borderBottomWidth="1px">
        <Tabs label={props.label} panel={panel} choices={choices} />
      </Box>
      <Box id={panel} role="tabpanel" aria-label={snippet.variant ? `${shown} · ${snippet.variant}` : snippet.label}>
        {group.length > 1 && (
          <Flex role="group" aria-label={snippet.label} px="1.5" pt="1.5" gap="1">
            {group.map((entry) => (
              <Button
                key={entry.id}
                size="xs"
                variant={entry === snippet ? "surface" : "ghost"}
                aria-pressed={entry === snippet}
                onClick={() => setVariant(entry.variant)}
              >
                {entry.variant}
              </Button>
            ))}
          </Flex>
        )}
        <Box position="relative">
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
    </Box>
  );
}
