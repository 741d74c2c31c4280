import type { User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { FormSection } from "../../ui/form/form-drawer.tsx";
import { Money } from "../../ui/display/money.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { inviteQuery, moveReward } from "./api.ts";
import { useTexts } from "./texts.ts";

export function Invitations({ self }: { readonly self: User }) {
  const t = useTexts();
  const language = useLanguage();
  const code = useQuery(inviteQuery).data;
  const link = code === undefined ? undefined : `${location.origin}/register?aff=${encodeURIComponent(code)}`;
  const move = () => void moveReward(self.aff_quota).then(() => toast("success", t("moved")), toastProblem);
  return (
    <FormSection title={t("invitations")}>
      <Text textStyle="sm" color="fg.muted">
        {t("inviteHelp", { count: formatCount(self.aff_count, language) })}
      </Text>
      {link !== undefined && (
        <Flex align="center" gap="2">
          <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere">
            {link}
          </Text>
          <CopyButton text={link} label={t("copyLink")} />
        </Flex>
      )}
      {self.aff_quota > 0 && (
        <Flex align="center" gap="3">
          <Text textStyle="sm">
            {t("pendingReward")}: <Money quota={self.aff_quota} />
          </Text>
          <Button size="sm" variant="outline" onClick={move}>
            {t("moveReward")}
          </Button>
        </Flex>
      )}
    </FormSection>
  );
}
