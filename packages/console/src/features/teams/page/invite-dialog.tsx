import { Button, Flex, Stack, Text } from "@chakra-ui/react";
import { useState } from "react";
import { useForm } from "../../../lib/use-form.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { useTexts } from "../texts.ts";
import { invite } from "./members-api.ts";
import type { PartProps } from "./part.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;
const MOST_USES = 1_000;
const ROLES = ["member", "admin", "viewer"] as const;

interface InvitationDraft {
  readonly role: (typeof ROLES)[number];
  readonly email: string;
  readonly expires_in: string;
  readonly max_uses: string;
}

const USUAL: InvitationDraft = { role: "member", email: "", expires_in: String(7 * DAY), max_uses: "1" };

/** Makes an invitation, and shows its link once. */
export function InviteDialog({ team, onClose }: Pick<PartProps, "team"> & { onClose(): void }) {
  const t = useTexts();
  const [link, setLink] = useState<string>();
  const form = useForm<InvitationDraft>({
    initial: USUAL,
    check: ({ max_uses: uses }) => {
      const isCount = /^\d{1,4}$/.test(uses.trim()) && Number(uses) >= 1 && Number(uses) <= MOST_USES;
      return isCount ? {} : { max_uses: t("badUses", { most: MOST_USES }) };
    },
    save: async ({ role, email, expires_in: expires, max_uses: uses }) => {
      const address = email.trim();
      const made = await invite(team.id, {
        role,
        expires_in: Number(expires),
        max_uses: Number(uses),
        ...(address !== "" && { email: address }),
      });
      // Without an address of the server, the link has none either: then it is the one of this page.
      setLink(new URL(made.link, location.origin).href);
    },
    onProblem: toastProblem,
  });
  if (link !== undefined) return <InvitationLink link={link} onClose={onClose} />;
  const { values, set } = form;
  return (
    <FormDialog
      title={t("inviteTitle", { name: team.name })}
      submitLabel={t("inviteSubmit")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        <SelectField
          label={t("role")}
          value={values.role}
          help={t(ROLE_HELP[values.role])}
          choices={ROLES.map((role) => ({ value: role, label: t(role) }))}
          onChange={(next) => set("role", ROLES.find((role) => role === next) ?? "member")}
        />
        <TextField label={t("email")} type="email" help={t("emailHelp")} {...form.input("email")} />
        <SelectField
          label={t("worksFor")}
          value={values.expires_in}
          choices={[
            { value: String(HOUR), label: t("hour") },
            { value: String(DAY), label: t("day") },
            { value: String(7 * DAY), label: t("week") },
            { value: String(30 * DAY), label: t("thirtyDays") },
          ]}
          onChange={(expires) => set("expires_in", expires)}
        />
        <TextField label={t("uses")} inputMode="numeric" help={t("usesHelp")} {...form.input("max_uses")} />
      </Stack>
    </FormDialog>
  );
}

export const ROLE_HELP = {
  owner: "ownerHelp",
  admin: "adminHelp",
  member: "memberHelp",
  viewer: "viewerHelp",
} as const;

function InvitationLink({ link, onClose }: { readonly link: string; onClose(): void }) {
  const t = useTexts();
  return (
    <Modal
      title={t("invitationMade")}
      lead={t("invitationLead")}
      closeOnInteractOutside={false}
      onClose={onClose}
      footer={<Button onClick={onClose}>{t("done")}</Button>}
    >
      <Flex align="center" gap="2" bg="fairway.subtle" borderRadius="l2" px="3" py="1.5">
        <Text fontFamily="mono" textStyle="sm" flex="1" overflowWrap="anywhere" data-testid="invitation-link">
          {link}
        </Text>
        <CopyButton text={link} label={t("copyLink")} />
      </Flex>
    </Modal>
  );
}
