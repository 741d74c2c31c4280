import { Box, Button, Flex, Input, NativeSelect } from "@chakra-ui/react";
import { useRef, useState, type ReactNode } from "react";
import { useKeys } from "../../lib/keys.ts";
import type { Choice } from "../form/field.tsx";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { useTexts } from "../texts.ts";
import { useDraft } from "./use-draft.ts";

interface FilterBarProps {
  /** The text filter that is always visible. */
  readonly main: ReactNode;
  /** True if a filter is set; shows a button to clear them. */
  readonly isActive: boolean;
  onClear(): void;
  readonly children: ReactNode;
  readonly aside?: ReactNode;
}

/** The row of filters above a grid, collapsed on phones. Its values are in the address. */
export function FilterBar(props: FilterBarProps) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <Flex role="search" aria-label={t("filters")} gap="2" wrap="wrap" align="center" mb="3">
      <Box flex={{ base: "1 1 100px", sm: "none" }}>{props.main}</Box>
      <Box display={{ base: "block", sm: "none" }}>
        <IconButton
          variant="outline"
          label={t("filters")}
          hasTip={false}
          aria-expanded={isOpen}
          color={props.isActive ? "fairway.fg" : "fg"}
          bg={props.isActive ? "fairway.subtle" : undefined}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="filter" />
        </IconButton>
      </Box>
      <Flex
        display={{ base: isOpen ? "flex" : "none", sm: "contents" }}
        order={{ base: "1", sm: "0" }}
        gap="2"
        wrap="wrap"
        width="full"
      >
        {props.children}
        {props.isActive && (
          <Button variant="ghost" color="fg.muted" onClick={props.onClear}>
            <Icon name="close" size={14} />
            {t("clear")}
          </Button>
        )}
      </Flex>
      {props.aside && (
        <Flex ms="auto" gap="2" align="center">
          {props.aside}
        </Flex>
      )}
    </Flex>
  );
}

interface BoxProps {
  readonly label: string;
  readonly value: string;
  onChange(value: string): void;
  /** The filter that phones always show; `/` focuses its text input. */
  readonly isMain?: boolean;
  readonly width?: string;
}

/** A text filter that waits for a pause in typing. */
export function FilterText(props: BoxProps) {
  const { value, onChange } = props;
  const { draft, setDraft, apply } = useDraft(value, onChange);
  const input = useRef<HTMLInputElement>(null);
  useKeys("/", () => input.current?.focus(), props.isMain ?? false);
  return (
    <Box
      position="relative"
      width={{ base: props.isMain ? "full" : "calc(50% - 4px)", sm: props.width ?? (props.isMain ? "200px" : "130px") }}
    >
      {props.isMain && (
        <Box position="absolute" insetStart="2.5" top="2" color="fg.muted" pointerEvents="none" zIndex="1">
          <Icon name="search" />
        </Box>
      )}
      <Input
        ref={input}
        type="search"
        aria-label={props.label}
        placeholder={props.label}
        value={draft}
        ps={props.isMain ? "8" : "2.5"}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={apply}
        onKeyDown={(event) => {
          if (event.key === "Enter") apply();
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </Box>
  );
}

/** A filter with a few values; `unset`, or else the first choice, means no filter. */
export function FilterSelect(props: BoxProps & { readonly choices: readonly Choice[]; readonly unset?: string }) {
  const isOn = props.value !== (props.unset ?? props.choices[0]?.value);
  return (
    <NativeSelect.Root
      size="sm"
      // Has the same width before and after its choices arrive.
      width={{ base: props.isMain ? "full" : "calc(50% - 4px)", sm: props.width ?? "132px" }}
    >
      <NativeSelect.Field
        aria-label={props.label}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        {...(isOn && {
          borderColor: "fairway.focusRing",
          bg: "fairway.subtle",
          color: "fairway.fg",
          fontWeight: "medium",
        })}
      >
        {props.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </NativeSelect.Field>
      <NativeSelect.Indicator />
    </NativeSelect.Root>
  );
}
