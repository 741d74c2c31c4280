import type { OptionKey } from "@fairway/wire";
import { Box, Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { EditorChoice, type EditorView } from "../../../ui/form/rows/editor-choice.tsx";
import { useTexts } from "../texts.ts";
import { collectChanges } from "./draft.ts";
import { GroupsEditor } from "./editors/groups-editor.tsx";
import { GROUP_OPTIONS, groupRows, readGroupTexts } from "./editors/groups.ts";
import { Fields, type FieldsProps } from "./fields.tsx";

const IN_TABLE: ReadonlySet<OptionKey> = new Set(GROUP_OPTIONS);

/** The group options as one table, or each as JSON. */
export function GroupFields(props: FieldsProps) {
  const t = useTexts();
  const [wanted, setWanted] = useState<EditorView>("table");
  const { section, draft, stored, onDraft, errors } = props;
  const texts = readGroupTexts(draft, stored);
  // While a number is being typed its text is not a table; the open editor stays, with the typed text.
  const isWhole = GROUP_OPTIONS.every((key) => section.keys.includes(key));
  const canShow = isWhole && (groupRows(texts) !== undefined || errors.size > 0);
  const view = canShow ? wanted : "json";
  const wrong = GROUP_OPTIONS.map((key) => errors.get(key)).find((error) => error !== undefined);
  return (
    <>
      <Flex justify="space-between" align="center" gap="3">
        <Text textStyle="sm" color="fg.muted">
          {t("groupsHelp")}
        </Text>
        {isWhole && <EditorChoice label={t("cardGroups")} view={view} onChange={setWanted} />}
      </Flex>
      {view === "table" && (
        <Box>
          <GroupsEditor
            texts={texts}
            onChange={(next) => onDraft((current) => collectChanges({ ...current, ...next }, stored))}
          />
          {wrong !== undefined && (
            <Text role="alert" textStyle="xs" color="fg.error" mt="1">
              {wrong}
            </Text>
          )}
        </Box>
      )}
      <Fields {...props} only={view === "table" ? section.keys.filter((key) => !IN_TABLE.has(key)) : section.keys} />
    </>
  );
}
