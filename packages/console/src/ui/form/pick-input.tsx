import { Box, Input } from "@chakra-ui/react";
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import type { Suggestion } from "./field.tsx";

export interface PickInputProps {
  /** The id or name that is chosen, or the text while it is none yet. */
  readonly value: string;
  /** What the text finds; those with a label are shown by it. */
  readonly options: readonly Suggestion[];
  onChange(value: string): void;
  onBlur?(): void;
  readonly label?: string;
  readonly placeholder?: string;
}

/** An id, or the ids of a team and its member. */
const ID = /^\d+(:\d+)?$/;

/** Returns the text of a chosen entity: its name with its id, or its name alone where that is what counts. */
function describeChosen({ value, label }: Suggestion): string {
  if (label === "") return value;
  return ID.test(value) ? `${label} #${value}` : `${label} (${value})`;
}

function moveActive(key: string, active: number, count: number): number | undefined {
  if (key === "ArrowDown") return (active + 1) % count;
  if (key === "ArrowUp") return (active + count - 1) % count;
  return undefined;
}

/** An input that finds an entity by its name, and shows the name of the one that is chosen. */
export function PickInput({ value, options, onChange, ...props }: PickInputProps) {
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState<Suggestion>();
  const [isFocused, setFocused] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  // While a number is typed it stays a number, although it may already be an id.
  const named = picked?.value === value ? picked : options.find((option) => !isFocused && option.value === value);
  const isShown = isOpen && options.length > 0;
  // The name gives way to the id when the focus arrives, which would lose an earlier selection.
  useLayoutEffect(() => {
    if (isFocused) input.current?.select();
  }, [isFocused]);
  const pick = (option: Suggestion) => {
    setPicked(option);
    setOpen(false);
    setActive(-1);
    onChange(option.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isShown || event.nativeEvent.isComposing) return;
    const moved = moveActive(event.key, active, options.length);
    const chosen = options[active];
    if (moved !== undefined) setActive(moved);
    else if (event.key === "Enter" && chosen) pick(chosen);
    else if (event.key === "Escape") setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Box position="relative" width="full">
      <Input
        ref={input}
        role="combobox"
        dir="auto"
        autoComplete="off"
        aria-label={props.label}
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={isShown ? listId : undefined}
        aria-activedescendant={isShown && active >= 0 ? `${listId}-${active}` : undefined}
        placeholder={props.placeholder ?? ""}
        value={named ? describeChosen(named) : value}
        onFocus={() => setFocused(true)}
        onChange={(event) => {
          setOpen(true);
          setActive(-1);
          onChange(event.target.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setFocused(false);
          setOpen(false);
          props.onBlur?.();
        }}
      />
      {isShown && (
        <Box
          id={listId}
          role="listbox"
          aria-label={props.label}
          position="absolute"
          zIndex="dropdown"
          insetX="0"
          top="full"
          mt="1"
          p="1"
          maxH="60"
          overflowY="auto"
          bg="bg.panel"
          borderWidth="1px"
          borderRadius="l2"
          boxShadow="md"
          // Otherwise the input loses the focus before the choice.
          onMouseDown={(event) => event.preventDefault()}
        >
          {options.map((option, at) => (
            <Box
              key={option.value}
              id={`${listId}-${at}`}
              role="option"
              aria-selected={at === active}
              px="2"
              py="1.5"
              borderRadius="l1"
              cursor="pointer"
              textStyle="sm"
              overflowWrap="anywhere"
              bg={at === active ? "bg.emphasized" : undefined}
              _hover={{ bg: "bg.hover" }}
              onClick={() => pick(option)}
            >
              {describeChosen(option)}
            </Box>
          ))}
        </Box>
      )}
    </Box>
  );
}
