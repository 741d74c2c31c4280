import type { User } from "@fairway/wire";
import { Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatQuota } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { toLimits } from "../../lib/limits.ts";
import { useForm } from "../../lib/use-form.ts";
import { SecretField, SelectField, TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { LimitsFields } from "../../ui/form/limits-fields.tsx";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { Edited } from "../../ui/form/use-edited.ts";
import { EditDrawer } from "../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
import { groupsQuery } from "../../session/groups.ts";
import { TagLimitsSection } from "../../shared/tag-limits/late-section.tsx";
import { toTagLimits } from "../../shared/tag-limits/rows.ts";
import { createUser, saveUser, userQuery, type Addition } from "./api.ts";
import { useTexts } from "./texts.ts";
import { checkUser, EMPTY_USER, toUserDraft, signedQuota, translateErrors, type UserDraft } from "./user-form.ts";

export function AddUser() {
  const t = useTexts();
  const close = useCloseTo("/user");
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <UserForm initial={EMPTY_USER} edited={undefined} />
    </DrawerShell>
  );
}

export function EditUser() {
  const t = useTexts();
  return (
    <EditDrawer
      title={t("edit")}
      list="/user"
      query={userQuery}
      toDraft={toUserDraft}
      form={(initial, edited) => <UserForm initial={initial} edited={edited} />}
    />
  );
}

type Form = ReturnType<typeof useForm<UserDraft>>;

function UserForm(props: { readonly initial: UserDraft; readonly edited: Edited<User> | undefined }) {
  const t = useTexts();
  const { quotaPerUnit, inCurrency } = useQuotaDisplay();
  const unit = inCurrency ? quotaPerUnit : 1;
  const { edited, initial } = props;
  const user = edited?.row;
  // A second attempt to save the same amount is the same change.
  const [tried, setTried] = useState<Addition>({ quota: 0 });
  const form = useForm<UserDraft>({
    initial,
    check: (values) => translateErrors(checkUser(values, user === undefined, unit), t),
    save: async ({ username, display_name, password, group, add, tag_limits, ...limits }) => {
      const name = username.trim();
      const input = { username: name, display_name, password };
      const changes = { ...input, group, limits: toLimits(limits), tag_limits: toTagLimits(tag_limits) };
      if (edited === undefined) await createUser(input);
      else {
        const quota = signedQuota(add, unit) ?? 0;
        const addition = quota === tried.quota ? tried : { quota };
        setTried(addition);
        await saveUser(edited, changes, addition);
      }
      toast("success", t(user === undefined ? "created" : "saved", { name }));
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  return (
    <DrawerForm form={form} list="/user" createLabel={user === undefined ? t("create") : undefined}>
      <Profile form={form} isNew={user === undefined} manager={user?.managed_by} />
      {user && <Balance form={form} user={user} unit={unit} />}
      {user && <RequestLimits form={form} />}
      {user && <TagLimitsSection value={form.values.tag_limits} onChange={(text) => form.set("tag_limits", text)} />}
      {user && <Bindings user={user} />}
    </DrawerForm>
  );
}

interface ProfileProps {
  readonly form: Form;
  readonly isNew: boolean;
  /** The provider whose directory decides about the names; undefined = none. */
  readonly manager: string | undefined;
}

function Profile({ form, isNew, manager }: ProfileProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  const groups = useQuery({ ...groupsQuery, enabled: !isNew }).data ?? [values.group];
  return (
    <FormSection title={t("sectionProfile")}>
      <TextField
        label={t("username")}
        isRequired
        isDisabled={manager !== undefined}
        help={manager === undefined ? t("usernameHelp") : t("managedBy", { provider: manager })}
        {...form.input("username")}
      />
      <TextField label={t("displayName")} isDisabled={manager !== undefined} {...form.input("display_name")} />
      <SecretField
        label={t("password")}
        isRequired={isNew}
        help={t(isNew ? "newPasswordHelp" : "passwordHelp")}
        autoComplete="new-password"
        {...form.input("password")}
      />
      {!isNew && (
        <SelectField
          label={t("group")}
          value={values.group}
          error={errors.group}
          choices={[...new Set([values.group, ...groups])].map((name) => ({ value: name, label: name }))}
          onChange={(value) => set("group", value)}
        />
      )}
    </FormSection>
  );
}

function Balance(props: { readonly form: Form; readonly user: User; readonly unit: number }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const { values } = props.form;
  const next = props.user.quota + (signedQuota(values.add, props.unit) ?? 0);
  return (
    <FormSection title={t("sectionBalance")}>
      <TextField
        label={t("addQuota")}
        help={t("addQuotaHelp", {
          now: formatQuota(props.user.quota, display, language),
          next: formatQuota(next, display, language),
        })}
        {...props.form.input("add")}
      />
    </FormSection>
  );
}

function RequestLimits({ form }: { readonly form: Form }) {
  const t = useTexts();
  return (
    <FormSection title={t("sectionLimits")}>
      <LimitsFields
        values={form.values}
        errors={form.errors}
        placeholder={t("asEverybody")}
        onChange={form.set}
        onBlur={form.touch}
      />
      <Text textStyle="xs" color="fg.muted">
        {t("limitsHelp")}
      </Text>
    </FormSection>
  );
}

function Bindings({ user }: { readonly user: User }) {
  const t = useTexts();
  const bindings = [
    [t("email"), user.email],
    [t("github"), user.github_id],
    [t("wechat"), user.wechat_id],
    [t("telegram"), user.telegram_id],
  ] as const;
  return (
    <FormSection title={t("sectionBindings")}>
      {bindings.map(([label, value]) => (
        <Flex key={label} justify="space-between" gap="4">
          <Text textStyle="sm" color="fg.muted">
            {label}
          </Text>
          <Text textStyle="sm" overflowWrap="anywhere">
            {value || t("notBound")}
          </Text>
        </Flex>
      ))}
    </FormSection>
  );
}
