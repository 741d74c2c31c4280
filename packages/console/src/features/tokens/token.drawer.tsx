import type { Token } from "@fairway/wire";
import { Box, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { useSelf } from "../../session/self.ts";
import { modelsQuery } from "../../session/models.ts";
import { toLocalInput } from "../../lib/format.ts";
import { nowSeconds } from "../../lib/now.ts";
import { useForm } from "../../lib/use-form.ts";
import { ChipsField } from "../../ui/form/chips-field.tsx";
import { AreaField, Presets, SelectField, SwitchField, TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { LimitsFields } from "../../ui/form/limits-fields.tsx";
import { useLimitsLine } from "../../ui/form/limits-line.ts";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { Edited } from "../../ui/form/use-edited.ts";
import { EditDrawer } from "../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
import { batchNames, createTokens, groupsQuery, tokenQuery, updateToken } from "./api.ts";
import { createdTokens } from "./created.ts";
import { TagLimitsSection } from "../../shared/tag-limits/late-section.tsx";
import { TagsSection } from "./tags/tags-section.tsx";
import { useTexts } from "./texts.ts";
import {
  BATCH_CAP,
  checkToken,
  EMPTY_TOKEN,
  findUnserved,
  LIMIT_PERIODS,
  toTokenBudget,
  toTokenDraft,
  toTokenInput,
  translateErrors,
  type TokenDraft,
  type UnservedModel,
} from "./token-form.ts";
import { PromptCacheField } from "./prompt-cache-field.tsx";

const HOUR = 3_600;
const COUNTS = [10, 20, 30, 100];

export function AddToken() {
  const t = useTexts();
  const close = useCloseTo("/token");
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <TokenForm initial={EMPTY_TOKEN} edited={undefined} />
    </DrawerShell>
  );
}

export function EditToken() {
  const t = useTexts();
  return (
    <EditDrawer
      title={t("edit")}
      list="/token"
      query={tokenQuery}
      toDraft={toTokenDraft}
      form={(initial, edited) => <TokenForm initial={initial} edited={edited} />}
    />
  );
}

function TokenForm(props: { readonly initial: TokenDraft; readonly edited: Edited<Token> | undefined }) {
  const t = useTexts();
  const { edited, initial } = props;
  const isNew = edited === undefined;
  const made = useRef<readonly Token[]>([]);
  const form = useForm<TokenDraft>({
    initial,
    check: (values) =>
      translateErrors(checkToken(values, isNew), (key) => (key === "badCount" ? t(key, { most: BATCH_CAP }) : t(key))),
    save: async (values) => {
      const input = toTokenInput(values);
      if (isNew) {
        const budget = toTokenBudget(values);
        made.current = await createTokens(
          { ...input, ...(budget && { budget }) },
          batchNames(values.name.trim(), Number(values.count)),
        );
      } else {
        const saved = await updateToken(edited, input, values.remain_quota !== initial.remain_quota);
        toast("success", t("saved", { name: saved.name }));
      }
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  return (
    <DrawerForm
      form={form}
      list="/token"
      createLabel={isNew ? t("create") : undefined}
      onSaved={() => createdTokens.write(made.current)}
    >
      <Basics form={form} isNew={isNew} />
      <Limits form={form} isNew={isNew} />
      <RequestLimits form={form} />
      <Access form={form} />
      <TagsSection values={form.values} error={form.errors.fixed_tags} set={form.set} />
      <TagLimitsSection value={form.values.tag_limits} onChange={(text) => form.set("tag_limits", text)} />
    </DrawerForm>
  );
}

interface PartProps {
  readonly form: ReturnType<typeof useForm<TokenDraft>>;
}

function Basics({ form, isNew }: PartProps & { readonly isNew: boolean }) {
  const t = useTexts();
  const { set, touch } = form;
  return (
    <FormSection title={t("sectionBasics")}>
      <TextField
        label={t("name")}
        isRequired
        placeholder={t("nameHint")}
        {...form.input("name")}
        onBlur={() => touch("name")}
      />
      {isNew && (
        <Flex direction="column">
          <TextField
            label={t("count")}
            help={t("countHelp", { most: BATCH_CAP })}
            {...form.input("count")}
            onBlur={() => touch("count")}
          />
          <Presets
            label={t("countPresets")}
            items={COUNTS.map((count) => ({ label: String(count), run: () => set("count", String(count)) }))}
          />
        </Flex>
      )}
    </FormSection>
  );
}

/** The time in which the limit of a new token may be spent. */
function LimitPeriodField({ form: { values, set } }: PartProps) {
  const t = useTexts();
  return (
    <SelectField
      label={t("limitPeriod")}
      value={values.limit_period}
      choices={LIMIT_PERIODS.map((value) => ({ value, label: t(PERIOD_TEXT[value]) }))}
      help={values.limit_period === "" ? undefined : t("limitPeriodHelp")}
      isDisabled={values.unlimited_quota}
      onChange={(next) => set("limit_period", LIMIT_PERIODS.find((period) => period === next) ?? "")}
    />
  );
}

const PERIOD_TEXT = {
  "": "perLife",
  hour: "perHour",
  day: "perDay",
  week: "perWeek",
  month: "perMonth",
  quarter: "perQuarter",
  year: "perYear",
} as const;

function Limits({ form, isNew }: PartProps & { readonly isNew: boolean }) {
  const t = useTexts();
  const { values, errors, set } = form;
  const expireIn = (seconds: number) => set("expires", toLocalInput(nowSeconds() + seconds));
  return (
    <FormSection title={t("sectionLimits")}>
      <SwitchField
        label={t("unlimited")}
        help={t("unlimitedHelp")}
        isOn={values.unlimited_quota}
        onChange={(isOn) => set("unlimited_quota", isOn)}
      />
      <MoneyField
        label={t("limit")}
        help={t(values.limit_period === "" ? "limitHelp" : "limitOfPeriodHelp")}
        quota={values.remain_quota}
        error={errors.remain_quota}
        isDisabled={values.unlimited_quota}
        onChange={(quota) => set("remain_quota", quota)}
      />
      {isNew && <LimitPeriodField form={form} />}
      <Flex direction="column">
        <TextField label={t("expiry")} type="datetime-local" help={t("expiryHelp")} {...form.input("expires")} />
        <Presets
          label={t("expiryPresets")}
          items={[
            { label: t("never"), run: () => set("expires", "") },
            { label: t("hour"), run: () => expireIn(HOUR) },
            { label: t("day"), run: () => expireIn(24 * HOUR) },
            { label: t("month"), run: () => expireIn(30 * 24 * HOUR) },
          ]}
        />
      </Flex>
    </FormSection>
  );
}

function RequestLimits({ form }: PartProps) {
  const t = useTexts();
  const line = useLimitsLine();
  const self = useSelf();
  const own = self && line(self.limits);
  return (
    <FormSection title={t("sectionRequests")}>
      <LimitsFields
        values={form.values}
        errors={form.errors}
        placeholder={t("noLimit")}
        onChange={form.set}
        onBlur={form.touch}
      />
      <Text textStyle="xs" color="fg.muted">
        {t("requestsHelp")} {own !== undefined && t("ownLimits", { limits: own })}
      </Text>
    </FormSection>
  );
}

function Fallbacks({ form, models }: PartProps & { readonly models: readonly string[] }) {
  const t = useTexts();
  const { values, errors, set } = form;
  return (
    <>
      <SelectField
        label={t("fallbacks")}
        value={values.fallbacks}
        choices={[
          { value: "inherit", label: t("fallbacksInherit") },
          { value: "off", label: t("fallbacksOff") },
          { value: "own", label: t("fallbacksOwn") },
        ]}
        help={t("fallbacksHelp")}
        error={errors.fallbacks}
        onChange={(value) => set("fallbacks", value as TokenDraft["fallbacks"])}
      />
      {values.fallbacks === "own" && (
        <ChipsField
          label={t("fallbackModels")}
          values={values.fallback_models}
          suggestions={models}
          placeholder={t("modelsHint")}
          duplicateText={t("modelsRepeated")}
          error={errors.fallback_models}
          onChange={(value) => set("fallback_models", value)}
        />
      )}
    </>
  );
}

/** Warns about models that nothing serves, with the nearest names; they may still be saved. */
function Unserved({ models }: { readonly models: readonly UnservedModel[] }) {
  const t = useTexts();
  return (
    <Box as="span" role="status" display="block" color="fg.warning">
      {models.map(({ name, meant }) => (
        <Box as="span" display="block" key={name}>
          {t("unserved", { name })} {meant.length > 0 && t("meant", { names: meant.join(", ") })}
        </Box>
      ))}
    </Box>
  );
}

function Access({ form }: PartProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  const groups = useQuery(groupsQuery).data ?? {};
  const models = useQuery(modelsQuery).data ?? [];
  const choices = [
    { value: "", label: t("ownGroup") },
    ...Object.entries(groups).map(([name, label]) => ({
      value: name,
      label: label === name ? name : `${name} · ${label}`,
    })),
  ];
  return (
    <FormSection title={t("sectionAccess")}>
      <SimpleGrid columns={1} gap="4">
        {choices.length > 1 && (
          <SelectField
            label={t("group")}
            value={values.group}
            choices={choices}
            help={t("groupHelp")}
            error={errors.group}
            onChange={(value) => set("group", value)}
          />
        )}
        <SwitchField
          label={t("limitModels")}
          isOn={values.model_limits_enabled}
          onChange={(isOn) => set("model_limits_enabled", isOn)}
        />
        {values.model_limits_enabled && (
          <ChipsField
            label={t("models")}
            values={values.models}
            suggestions={models}
            placeholder={t("modelsHint")}
            duplicateText={t("modelsRepeated")}
            help={<Unserved models={findUnserved(values.models, models)} />}
            onChange={(value) => set("models", value)}
          />
        )}
        <Fallbacks form={form} models={models} />
        <PromptCacheField value={form.values.prompt_cache} onChange={(value) => form.set("prompt_cache", value)} />
        <AreaField
          label={t("ips")}
          isMono
          rows={2}
          value={values.allow_ips}
          error={errors.allow_ips}
          help={t("ipsHelp")}
          onChange={(value) => set("allow_ips", value)}
        />
      </SimpleGrid>
    </FormSection>
  );
}
