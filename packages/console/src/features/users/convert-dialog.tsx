import type { ConversionBlock, ConversionPlan, User } from "@fairway/wire";
import { Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { useForm } from "../../lib/use-form.ts";
import { Facts } from "../../ui/display/facts.tsx";
import { Money } from "../../ui/display/money.tsx";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { TextField } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { conversionQuery, convertUser } from "./api.ts";
import { useTexts } from "./texts.ts";

const BLOCK_TEXTS = {
  role: "blockRole",
  sign_in: "blockSignIn",
  sessions: "blockSessions",
  access_tokens: "blockAccessTokens",
  memberships: "blockMemberships",
  documents: "blockDocuments",
  earnings: "blockEarnings",
} as const satisfies Record<ConversionBlock, string>;

function Plan({ plan }: { readonly plan: ConversionPlan }) {
  const t = useTexts();
  if (plan.blocks.length > 0)
    return (
      <Stack gap="1" role="alert">
        <Text>{t("convertBlocked")}</Text>
        <ul>
          {plan.blocks.map((block) => (
            <li key={block}>{t(BLOCK_TEXTS[block])}</li>
          ))}
        </ul>
      </Stack>
    );
  return (
    <Facts
      title={t("convertTakes")}
      items={[
        [t("convertBalance"), <Money key="balance" quota={plan.quota} />],
        [t("convertHeld"), <Money key="held" quota={plan.held} />],
        [t("convertKeys"), plan.keys],
        [t("convertBudgets"), plan.budgets],
        [t("convertWebhooks"), plan.webhooks],
        [t("convertGroups"), plan.groups.join(", ")],
      ]}
    />
  );
}

/** Says what becomes of an account that is converted into a team, and converts it. */
export function ConvertDialog({ user, onClose }: { readonly user: User; onClose(): void }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { data: plan, error, refetch } = useQuery(conversionQuery(user.id));
  const form = useForm({
    initial: { name: user.username, slug: "" },
    check: ({ name }) => (name.trim() === "" ? { name: t("convertNameMissing") } : {}),
    save: async ({ name, slug }) => {
      const short = slug.trim();
      const team = await convertUser({ user_id: user.id, name: name.trim(), ...(short !== "" && { slug: short }) });
      toast("success", t("converted", { name: user.username }));
      onClose();
      void navigate(`/team/${team.id}`);
    },
    onProblem: toastProblem,
  });
  const isBlocked = plan === undefined || plan.blocks.length > 0;
  return (
    <FormDialog
      title={t("convertTitle", { name: user.username })}
      submitLabel={t(isBlocked ? "convertClose" : "convert")}
      isSaving={form.isSaving}
      onSubmit={() => (isBlocked ? onClose() : void form.submit())}
      onClose={onClose}
    >
      <Stack gap="4">
        <Text color="fg.muted">{t("convertLead")}</Text>
        {error && <LoadFailed problem={error} onRetry={() => void refetch()} />}
        {plan && <Plan plan={plan} />}
        {!isBlocked && (
          <>
            <TextField label={t("convertName")} isRequired {...form.input("name")} />
            <TextField label={t("convertSlug")} help={t("convertSlugHelp")} {...form.input("slug")} />
          </>
        )}
      </Stack>
    </FormDialog>
  );
}
