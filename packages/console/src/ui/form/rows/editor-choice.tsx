import { Button, Flex } from "@chakra-ui/react";
import { useTexts } from "../../texts.ts";

export type EditorView = "table" | "json";

/** Switches one value between its table and its JSON. */
export function EditorChoice(props: {
  readonly label: string;
  readonly view: EditorView;
  onChange(view: EditorView): void;
}) {
  const t = useTexts();
  return (
    <Flex role="group" aria-label={`${props.label}: ${t("editAs")}`} borderWidth="1px" borderRadius="l2" p="0.5">
      {(["table", "json"] as const).map((view) => (
        <Button
          key={view}
          size="2xs"
          variant={view === props.view ? "surface" : "ghost"}
          aria-pressed={view === props.view}
          onClick={() => props.onChange(view)}
        >
          {view === "json" ? "JSON" : t("table")}
        </Button>
      ))}
    </Flex>
  );
}
