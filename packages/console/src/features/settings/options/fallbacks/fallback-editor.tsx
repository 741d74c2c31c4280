import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SelectField } from "../../../../ui/form/field.tsx";
import { groupsQuery } from "../../../../session/groups.ts";
import { servedQuery } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { AddName } from "./add-name.tsx";
import { FallbackList } from "./fallback-list.tsx";
import { FallbackPreview } from "./fallback-preview.tsx";
import { findListFault, parseLists, printLists, type EditedList, type FallbackOption } from "./fallback-lists.ts";
import "./fallbacks.css";

interface FallbackEditorProps {
  readonly name: FallbackOption;
  readonly value: string;
  onChange(text: string): void;
}

/** The lists of fallback models, each in its order, and what a call would do with them. */
export function FallbackEditor({ name, value, onChange }: FallbackEditorProps) {
  const { data } = useQuery(servedQuery);
  const known = data && new Map(data.map((row) => [row.model, row] as const));
  const suggestions = (data ?? []).filter((row) => row.is_served).map(({ model }) => model);
  const lists = parseLists(name, value);
  if (!lists) return null;
  const save = (next: readonly EditedList[]) => onChange(printLists(name, next));
  return (
    <div className="fallback-editor">
      {lists.map((list, at) => (
        <FallbackList
          key={JSON.stringify([list.group, list.name])}
          list={list}
          known={known}
          suggestions={suggestions}
          onChange={(next) => save(lists.with(at, next))}
          onRemove={() => save(lists.toSpliced(at, 1))}
        />
      ))}
      <AddList name={name} lists={lists} suggestions={suggestions} onAdd={(list) => save([...lists, list])} />
      {lists.length > 0 && <FallbackPreview name={name} lists={lists} known={known} suggestions={suggestions} />}
    </div>
  );
}

function AddList(props: {
  readonly name: FallbackOption;
  readonly lists: readonly EditedList[];
  readonly suggestions: readonly string[];
  onAdd(list: EditedList): void;
}) {
  const t = useTexts();
  const { lists } = props;
  const hasGroups = props.name === "GroupModelFallbacks";
  const { data: groups = [] } = useQuery({ ...groupsQuery, enabled: hasGroups });
  const [chosen, setChosen] = useState<string>();
  const group = hasGroups ? (chosen ?? groups[0] ?? "default") : "";
  return (
    <div className="fallback-fields">
      {hasGroups && (
        <SelectField
          label={t("columnGroup")}
          value={group}
          choices={groups.map((value) => ({ value, label: value }))}
          onChange={setChosen}
        />
      )}
      <AddName
        label={t("listFor")}
        button={t("addList")}
        suggestions={["*", ...props.suggestions].filter((model) => findListFault(lists, group, model) === undefined)}
        findFault={(model) => findListFault(lists, group, model)}
        onAdd={(name) => props.onAdd({ group, name, models: [] })}
      />
    </div>
  );
}
