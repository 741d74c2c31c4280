import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { SelectField } from "../../../ui/form/field.tsx";
import { GroupFrame } from "../../../ui/form/rows/group-frame.tsx";
import { PairsField } from "../../../ui/form/rows/pairs-field.tsx";
import { RowsField, useFieldRows } from "../../../ui/form/rows/rows-field.tsx";
import { findPolicyFaults, policyRows, policyText, type TagsDraft } from "./tag-rows.ts";
import { useTexts } from "./texts.ts";

interface TagsSectionProps {
  readonly values: TagsDraft;
  readonly error: string | undefined;
  set<K extends keyof TagsDraft>(name: K, value: TagsDraft[K]): void;
}

const USERS = ["", "client", "off", "required"] as const;
const USER_TEXTS = { "": "usersInherit", client: "usersClient", off: "usersOff", required: "usersRequired" } as const;

function Policy({ values, set }: TagsSectionProps) {
  const t = useTexts();
  const { rows = [], change } = useFieldRows({
    text: values.tag_keys,
    parse: policyRows,
    print: policyText,
    onChange: (text) => set("tag_keys", text),
  });
  return (
    <GroupFrame label={t("policy")} help={t("policyHelp")}>
      <RowsField
        label={t("policy")}
        columns={[
          { id: "key", label: t("key"), placeholder: "app" },
          { id: "values", label: t("allowed"), placeholder: t("anyValue"), grow: 2 },
          { id: "usual", label: t("usual"), placeholder: "–" },
          { id: "strict", label: t("strict"), kind: "flag" },
          { id: "required", label: t("required"), kind: "flag" },
        ]}
        rows={rows}
        onChange={change}
        addLabel={t("addKey")}
        findFaults={findPolicyFaults}
      />
    </GroupFrame>
  );
}

/** What calls with the token are for: tags that clients cannot change, and those that they may send. */
export function TagsSection(props: TagsSectionProps) {
  const t = useTexts();
  const { values, error, set } = props;
  return (
    <FormSection title={t("section")}>
      <PairsField
        label={t("fixed")}
        help={t("fixedHelp")}
        error={error}
        value={values.fixed_tags}
        onChange={(text) => set("fixed_tags", text)}
        from={{ label: t("key"), placeholder: "app" }}
        to={{ label: t("value"), placeholder: "shop" }}
        addLabel={t("addFixed")}
        templates={[]}
      />
      <Policy {...props} />
      <SelectField
        label={t("users")}
        help={t("usersHelp")}
        value={values.tag_users}
        choices={USERS.map((value) => ({ value, label: t(USER_TEXTS[value]) }))}
        onChange={(name) => set("tag_users", USERS.find((one) => one === name) ?? "")}
      />
    </FormSection>
  );
}
