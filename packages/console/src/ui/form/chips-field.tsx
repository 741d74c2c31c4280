import { Box, Button, Field, Flex, Input } from "@chakra-ui/react";
import { useId, useState, type KeyboardEvent, type ReactNode } from "react";
import { FieldFrame } from "./field.tsx";
import { Icon } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";

const SHOWN = 40;

interface ChipsProps {
  readonly label: string;
  readonly values: readonly string[];
  onChange(values: string[]): void;
  /** Shown while typing; other values may be entered too. */
  readonly suggestions: readonly string[];
  /** The message if every entered value is already in the list. */
  readonly duplicateText: string;
  readonly placeholder?: string;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
  readonly aside?: ReactNode;
}

function Chip(props: { readonly name: string; onRemove(): void; readonly isDisabled: boolean }) {
  const t = useTexts();
  return (
    <Flex
      as="li"
      align="center"
      bg="bg.muted"
      borderRadius="l1"
      ps="2"
      textStyle="xs"
      fontFamily="mono"
      maxW="full"
      minH="6"
    >
      <Box as="span" overflow="hidden" textOverflow="ellipsis" whiteSpace="nowrap">
        {props.name}
      </Box>
      <Button
        size="xs"
        variant="ghost"
        minW="6"
        h="6"
        px="0"
        color="fg.muted"
        aria-label={t("removeItem", { name: props.name })}
        disabled={props.isDisabled}
        onClick={() => props.onRemove()}
      >
        <Icon name="close" size={12} />
      </Button>
    </Flex>
  );
}

/** A list of names: typed (comma or Enter), pasted as a comma list, or picked from suggestions. */
export function ChipsField(props: ChipsProps) {
  const t = useTexts();
  const [draft, setDraft] = useState("");
  const [isRepeated, setRepeated] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const listId = useId();
  const isDisabled = props.isDisabled ?? false;

  function add(text: string): void {
    const wanted = text.split(/[,\n]/).map((part) => part.trim());
    const entered = wanted.filter((part) => part !== "");
    const fresh = [...new Set(entered)].filter((part) => !props.values.includes(part));
    setRepeated(entered.length > 0 && fresh.length < entered.length);
    if (fresh.length > 0) props.onChange([...props.values, ...fresh]);
    setDraft("");
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if ((event.key === "Enter" || event.key === ",") && draft.trim() !== "") {
      event.preventDefault();
      add(draft);
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
    } else if (event.key === "Backspace" && draft === "" && props.values.length > 0) {
      props.onChange(props.values.slice(0, -1));
    }
  }

  const shown = isOpen ? props.values : props.values.slice(0, SHOWN);
  const hidden = props.values.length - shown.length;
  return (
    <FieldFrame {...props} error={props.error ?? (isRepeated ? props.duplicateText : undefined)}>
      <Box
        width="full"
        borderWidth="1px"
        borderColor="border.input"
        borderRadius="l2"
        bg="bg.panel"
        p="1.5"
        _focusWithin={{ outline: "2px solid", outlineColor: "fairway.focusRing", outlineOffset: "-1px" }}
      >
        {props.values.length > 0 && (
          <Flex as="ul" listStyleType="none" wrap="wrap" gap="1" mb="1.5" maxH="40" overflowY="auto">
            {shown.map((name) => (
              <Chip
                key={name}
                name={name}
                isDisabled={isDisabled}
                onRemove={() => props.onChange(props.values.filter((other) => other !== name))}
              />
            ))}
            {hidden > 0 && (
              <Flex as="li">
                <Button size="xs" h="6" variant="ghost" onClick={() => setOpen(true)}>
                  {t("moreItems", { count: hidden })}
                </Button>
              </Flex>
            )}
          </Flex>
        )}
        <Field.Context>
          {() => (
            <Input
              variant="subtle"
              className="chips-input"
              bg="transparent"
              size="sm"
              h="7"
              border="none"
              outline="none"
              focusRing="none"
              list={listId}
              value={draft}
              placeholder={props.placeholder ?? ""}
              autoComplete="off"
              onChange={(event) => {
                setRepeated(false);
                // Choosing a suggestion arrives as an input event without a key.
                const native = event.nativeEvent as InputEvent;
                const isPicked = native.inputType === "insertReplacementText" || !("inputType" in native);
                if (isPicked && props.suggestions.includes(event.target.value)) add(event.target.value);
                else setDraft(event.target.value);
              }}
              onKeyDown={onKeyDown}
              onBlur={() => draft.trim() !== "" && add(draft)}
              onPaste={(event) => {
                const text = event.clipboardData.getData("text");
                if (!/[,\n]/.test(text)) return;
                event.preventDefault();
                add(text);
              }}
            />
          )}
        </Field.Context>
        <datalist id={listId}>
          {props.suggestions
            .filter((name) => !props.values.includes(name))
            .slice(0, 200)
            .map((name) => (
              <option key={name} value={name} />
            ))}
        </datalist>
      </Box>
    </FieldFrame>
  );
}
