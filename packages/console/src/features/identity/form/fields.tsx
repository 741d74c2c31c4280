import { SimpleGrid } from "@chakra-ui/react";
import type { Form } from "../../../lib/use-form.ts";
import { useStatus } from "../../../session/status.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { AreaField, SecretField, SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { KIND_NAMES, PROVIDER_KINDS } from "../kinds.ts";
import { useTexts } from "../texts.ts";
import { suggestSlug, type ProviderDraft } from "./provider-form.ts";
import { RulesField } from "./rules-field.tsx";

interface PartProps {
  readonly form: Form<ProviderDraft>;
}

const METHODS = {
  client_secret_post: "methodPost",
  client_secret_basic: "methodBasic",
  private_key_jwt: "methodKey",
  none: "methodNone",
} as const;
const METHOD_NAMES = ["client_secret_post", "client_secret_basic", "private_key_jwt", "none"] as const;

/** Which provider it is, and how the gateway proves itself to it. */
export function ConnectionFields({ form, isNew }: PartProps & { readonly isNew: boolean }) {
  const t = useTexts();
  const { server_address: server } = useStatus();
  const { values, set } = form;
  const kind = PROVIDER_KINDS[values.kind];
  const chooseKind = (next: string) => {
    const chosen = KIND_NAMES.find((one) => one === next) ?? "other";
    set("kind", chosen);
    if (isNew) set("scim_match", PROVIDER_KINDS[chosen].scimMatch);
    if (chosen === "google" && values.issuer === "") set("issuer", PROVIDER_KINDS.google.issuer);
  };
  const rename = (name: string) => {
    if (isNew && values.slug === suggestSlug(values.name)) set("slug", suggestSlug(name));
    set("name", name);
  };
  return (
    <FormSection title={t("sectionProvider")}>
      <SelectField
        label={t("kind")}
        value={values.kind}
        choices={KIND_NAMES.map((value) => ({ value, label: t(PROVIDER_KINDS[value].label) }))}
        onChange={chooseKind}
      />
      <TextField label={t("name")} isRequired help={t("nameHelp")} {...form.input("name")} onChange={rename} />
      <TextField
        label={t("slug")}
        isRequired={isNew}
        isDisabled={!isNew}
        isMono
        help={t("slugHelp", { address: `${server}/oauth/${values.slug || "…"}` })}
        {...form.input("slug")}
      />
      <TextField
        label={t("issuer")}
        isRequired
        isMono
        placeholder={kind.issuer}
        help={t(kind.issuerHelp)}
        {...form.input("issuer")}
      />
      <TextField label={t("client")} isRequired isMono help={t(kind.clientHelp)} {...form.input("client_id")} />
      <SelectField
        label={t("method")}
        value={values.auth_method}
        choices={METHOD_NAMES.map((value) => ({ value, label: t(METHODS[value]) }))}
        onChange={(next) => set("auth_method", METHOD_NAMES.find((one) => one === next) ?? "client_secret_post")}
      />
      <Proof form={form} isNew={isNew} />
      <TextField label={t("scopes")} isMono help={t("scopesHelp")} {...form.input("scopes")} />
      <SwitchField
        label={t("allowHttp")}
        help={t("allowHttpHelp")}
        isOn={values.allow_http}
        onChange={(isOn) => set("allow_http", isOn)}
      />
    </FormSection>
  );
}

/** The secret or the private key of the client; what is stored is never shown. */
function Proof({ form, isNew }: PartProps & { readonly isNew: boolean }) {
  const t = useTexts();
  const { values } = form;
  const placeholder = isNew ? "" : t("unchanged");
  if (values.auth_method === "none") return null;
  if (values.auth_method === "private_key_jwt")
    return (
      <AreaField
        label={t("privateKey")}
        isMono
        rows={5}
        help={t("privateKeyHelp")}
        placeholder={isNew ? "-----BEGIN PRIVATE KEY-----" : placeholder}
        {...form.input("secret")}
      />
    );
  const help = t(PROVIDER_KINDS[values.kind].secretHelp);
  return <SecretField label={t("secret")} isMono help={help} placeholder={placeholder} {...form.input("secret")} />;
}

const JIT = { off: "jitOff", create: "jitCreate", link: "jitLink" } as const;
const JIT_NAMES = ["create", "link", "off"] as const;

/** Who may come and what they get. */
export function PeopleFields({ form }: PartProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  const kind = PROVIDER_KINDS[values.kind];
  return (
    <FormSection title={t("sectionPeople")}>
      <ChipsField
        label={t("domains")}
        values={values.domains}
        suggestions={[]}
        placeholder="acme.example"
        duplicateText={t("domainTwice")}
        help={t(kind.domainsHelp)}
        onChange={(domains) => set("domains", domains)}
      />
      <SwitchField
        label={t("vouches")}
        help={t("vouchesHelp")}
        isOn={values.vouches_for_email}
        onChange={(isOn) => set("vouches_for_email", isOn)}
      />
      <SelectField
        label={t("jit")}
        value={values.jit}
        choices={JIT_NAMES.map((value) => ({ value, label: t(JIT[value]) }))}
        help={t("jitHelp")}
        onChange={(next) => set("jit", JIT_NAMES.find((one) => one === next) ?? "create")}
      />
      <RulesField
        rules={values.mapping}
        help={t(kind.claimsHelp)}
        error={errors.mapping}
        onChange={(rules) => set("mapping", rules)}
      />
      <TextField label={t("match")} isMono help={t("matchHelp")} {...form.input("scim_match")} />
      <SwitchField
        label={t("enforced")}
        help={t("enforcedHelp")}
        isOn={values.enforced}
        onChange={(isOn) => set("enforced", isOn)}
      />
      {values.enforced && (
        <TextField label={t("exempt")} placeholder="1, 42" help={t("exemptHelp")} {...form.input("exempt")} />
      )}
    </FormSection>
  );
}

/** The second factor, and when sessions end. */
export function SessionFields({ form }: PartProps) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <FormSection title={t("sectionSessions")}>
      <SelectField
        label={t("mfa")}
        value={values.mfa}
        choices={[
          { value: "own", label: t("mfaOwn") },
          { value: "provider", label: t("mfaProvider") },
        ]}
        onChange={(next) => set("mfa", next === "provider" ? "provider" : "own")}
      />
      {values.mfa === "provider" && (
        <ChipsField
          label={t("acr")}
          values={values.acr_values}
          suggestions={[]}
          duplicateText={t("acrTwice")}
          help={t("acrHelp")}
          onChange={(next) => set("acr_values", next)}
        />
      )}
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
        <TextField label={t("hours")} inputMode="numeric" help={t("zeroHelp")} {...form.input("session_hours")} />
        <TextField label={t("idle")} inputMode="numeric" help={t("zeroHelp")} {...form.input("idle_minutes")} />
      </SimpleGrid>
      <SwitchField
        label={t("reauth")}
        help={t("reauthHelp")}
        isOn={values.reauth}
        onChange={(isOn) => set("reauth", isOn)}
      />
      <SwitchField
        label={t("logout")}
        help={t("logoutHelp")}
        isOn={values.logout}
        onChange={(isOn) => set("logout", isOn)}
      />
    </FormSection>
  );
}
