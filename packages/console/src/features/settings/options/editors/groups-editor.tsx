import { RowsField, useFieldRows } from "../../../../ui/form/rows/rows-field.tsx";
import { useTexts } from "../../texts.ts";
import { groupRows, groupTexts, type GroupTexts } from "./groups.ts";
import { rowFaults } from "./rows.ts";

/** Everything about groups in one table: their prices, who may choose them, and the price of their top-ups. */
export function GroupsEditor(props: { readonly texts: GroupTexts; onChange(texts: GroupTexts): void }) {
  const t = useTexts();
  const { rows, change } = useFieldRows({
    text: JSON.stringify(props.texts),
    parse: (text) => groupRows(JSON.parse(text) as GroupTexts),
    print: (next) => JSON.stringify(groupTexts(next)),
    onChange: (text) => props.onChange(JSON.parse(text) as GroupTexts),
  });
  if (!rows) return null;
  return (
    <RowsField
      label={t("cardGroups")}
      columns={[
        { id: "name", label: t("columnGroup") },
        { id: "ratio", label: t("columnPrice"), kind: "number" },
        { id: "usable", label: t("columnUsable"), kind: "flag" },
        { id: "label", label: t("columnLabel"), grow: 2 },
        { id: "topup", label: t("columnTopup"), kind: "number" },
      ]}
      rows={rows}
      onChange={change}
      addLabel={t("addGroup")}
      findFaults={rowFaults(rows, ["ratio", "topup"], true)}
    />
  );
}
