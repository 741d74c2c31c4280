import { Button, Flex, Input, Text } from "@chakra-ui/react";
import { useId, useState, type KeyboardEvent } from "react";
import { useTexts } from "../../texts.ts";
import type { NameFault } from "./fallback-lists.ts";
import { NAME_FAULTS } from "./words.ts";

/** An input whose name is added by Enter or its button, unless something speaks against it. */
export function AddName(props: {
  readonly label: string;
  readonly button: string;
  readonly suggestions: readonly string[];
  findFault(name: string): NameFault | undefined;
  onAdd(name: string): void;
}) {
  const t = useTexts();
  const id = useId();
  const [name, setName] = useState("");
  const [fault, setFault] = useState<NameFault>();
  const add = () => {
    const wanted = name.trim();
    const found = props.findFault(wanted);
    setFault(found);
    if (found) return;
    props.onAdd(wanted);
    setName("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    add();
  };
  return (
    <div className="fallback-add">
      <Flex gap="2" align="center">
        <Input
          size="sm"
          maxW="80"
          aria-label={props.label}
          aria-invalid={fault !== undefined}
          aria-describedby={fault && `${id}-fault`}
          placeholder={props.label}
          autoComplete="off"
          spellCheck={false}
          list={`${id}-names`}
          value={name}
          onChange={(event) => {
            setFault(undefined);
            setName(event.target.value);
          }}
          onKeyDown={onKeyDown}
        />
        <datalist id={`${id}-names`}>
          {props.suggestions.slice(0, 200).map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        <Button size="sm" variant="outline" flex="none" onClick={add}>
          {props.button}
        </Button>
      </Flex>
      {fault && (
        <Text id={`${id}-fault`} role="alert" textStyle="xs" color="fg.error" mt="1">
          {t(NAME_FAULTS[fault])}
        </Text>
      )}
    </div>
  );
}
