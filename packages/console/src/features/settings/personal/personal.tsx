import type { User } from "@fairway/wire";
import { Box, Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import type { FormEvent, ReactNode } from "react";
import { useSelfQuery } from "../../../session/self.ts";
import { useForm } from "../../../lib/use-form.ts";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { NewPasswordFields, useNewPassword } from "../../../ui/form/new-password.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useUnsavedGuard } from "../../../ui/feedback/unsaved-guard.ts";
import { AccessTokens } from "./access-tokens.tsx";
import { Accounts } from "./accounts.tsx";
import { Appearance } from "./appearance.tsx";
import { changePassword, saveProfile } from "../api.ts";
import { Danger } from "./danger.tsx";
import { personalId, type PersonalPart } from "./parts.ts";
import { Models } from "./models.tsx";
import { Passkeys } from "./passkeys.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";
import { useTexts } from "../texts.ts";

/** Settings of the user's own account. */
export function Personal() {
  const { data: self, error, refetch } = useSelfQuery();
  if (error && !self) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!self) return <Loading />;
  return (
    <Flex key={self.id} direction="column" gap="5">
      <Part name="profile">
        <Profile self={self} />
      </Part>
      <Part name="models">
        <Models />
      </Part>
      <Part name="accounts">
        <Accounts self={self} />
      </Part>
      <Part name="password">
        <Password />
      </Part>
      <Part name="twoFactor">
        <SecondFactor />
      </Part>
      <Part name="passkeys">
        <Passkeys />
      </Part>
      <Part name="accessToken">
        <AccessTokens />
      </Part>
      <Part name="sessions">
        <Sessions />
      </Part>
      <Part name="appearance">
        <Appearance />
      </Part>
      <Danger self={self} />
    </Flex>
  );
}

/** A part that the index links to, below the header. */
function Part(props: { readonly name: PersonalPart; readonly children: ReactNode }) {
  return (
    <Box id={personalId(props.name)} scrollMarginTop="64px">
      {props.children}
    </Box>
  );
}

function submitting(submit: () => Promise<unknown>) {
  return (event: FormEvent) => {
    event.preventDefault();
    void submit();
  };
}

function Profile({ self }: { readonly self: User }) {
  const t = useTexts();
  const { managed_by: manager } = self;
  const form = useForm({
    initial: { username: self.username, display_name: self.display_name },
    check: () => ({}),
    save: async (values) => {
      await saveProfile(values);
      toast("success", t("saved"));
    },
    onProblem: toastProblem,
  });
  useUnsavedGuard(form.isDirty);
  return (
    <form noValidate onSubmit={submitting(form.submit)}>
      <FormSection title={t("profile")}>
        <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
          <TextField
            label={t("username")}
            value={form.values.username}
            error={form.errors.username}
            autoComplete="username"
            isDisabled={manager !== undefined}
            onChange={(value) => form.set("username", value)}
          />
          <TextField
            label={t("displayName")}
            isDisabled={manager !== undefined}
            value={form.values.display_name}
            error={form.errors.display_name}
            onChange={(value) => form.set("display_name", value)}
          />
        </SimpleGrid>
        {manager !== undefined && (
          <Text textStyle="sm" color="fg.muted">
            {t("managedBy", { provider: manager })}
          </Text>
        )}
        <Flex align="center" gap="4" wrap="wrap">
          <Button type="submit" size="sm" disabled={!form.isDirty} loading={form.isSaving}>
            {t("saveProfile")}
          </Button>
          <Text textStyle="sm" color="fg.muted">
            {t("group")}: {self.group} · #{self.id}
          </Text>
        </Flex>
      </FormSection>
    </form>
  );
}

function Password() {
  const t = useTexts();
  const form = useNewPassword(changePassword);
  useUnsavedGuard(form.isDirty);
  return (
    <form noValidate onSubmit={submitting(form.submit)}>
      <FormSection title={t("password")}>
        <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
          <NewPasswordFields form={form} />
        </SimpleGrid>
        <Flex>
          <Button type="submit" size="sm" disabled={!form.isDirty} loading={form.isSaving}>
            {t("changePassword")}
          </Button>
        </Flex>
      </FormSection>
    </form>
  );
}
