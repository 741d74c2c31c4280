import { Box, Text } from "@chakra-ui/react";
import type { DeclarativeChange, FieldChange } from "@fairway/wire";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Panel, PanelRow } from "../../ui/display/panel.tsx";
import { useTexts } from "./texts.ts";

const ACTIONS = {
  create: { mark: "go", text: "create" },
  update: { mark: "underway", text: "update" },
  delete: { mark: "stop", text: "delete" },
  conflict: { mark: "caution", text: "conflict" },
  unchanged: { mark: "parked", text: "unchanged" },
} as const satisfies Record<DeclarativeChange["action"], { mark: MarkKind; text: string }>;

function print(value: unknown): string {
  return value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
}

function Field({ field: name, old, new: next }: FieldChange) {
  return (
    <Box as="li" fontFamily="mono" textStyle="xs" overflowWrap="anywhere">
      {name}: {old !== undefined && <del>{print(old)}</del>}
      {old !== undefined && " → "}
      <ins>{print(next)}</ins>
    </Box>
  );
}

function Change({ change }: { readonly change: DeclarativeChange }) {
  const t = useTexts();
  const { mark, text } = ACTIONS[change.action];
  return (
    <PanelRow>
      <Box width="28" flex="none">
        <Mark kind={mark} label={t(text)} />
      </Box>
      <Text flex="1" minW="8rem" overflowWrap="anywhere">
        {change.kind} <strong>{change.name}</strong>
      </Text>
      {change.message !== "" && (
        <Text color="fg.muted" width="full" overflowWrap="anywhere">
          {change.message}
        </Text>
      )}
      {change.fields.length > 0 && (
        <Box as="ul" width="full" listStyleType="none">
          {change.fields.map((field) => (
            <Field key={field.field} {...field} />
          ))}
        </Box>
      )}
    </PanelRow>
  );
}

/** Shows what an apply does or did; unchanged documents come last. */
export function Changes(props: { readonly title: string; readonly changes: readonly DeclarativeChange[] }) {
  const t = useTexts();
  const isSame = ({ action }: DeclarativeChange) => action === "unchanged";
  const ordered = [...props.changes].sort((one, other) => Number(isSame(one)) - Number(isSame(other)));
  return (
    <Panel title={props.title} count={ordered.length} empty={t("planEmpty")}>
      {ordered.map((change) => (
        <Change key={`${change.kind} ${change.name}`} change={change} />
      ))}
    </Panel>
  );
}
