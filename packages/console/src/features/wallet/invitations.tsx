import type { User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { FormSection } from "../../ui/form/form-drawer.tsx";
import { lateOverlay } from "../../ui/late/late.tsx";
import { Money } from "../../ui/display/money.tsx";
import { inviteQuery } from "./api.ts";
import { Figure } from "./figure.tsx";
import { useTexts } from "./texts.ts";

const MoveDialog = lateOverlay(async () => (await import("./move-dialog.tsx")).MoveDialog);

export function Invitations({ self }: { readonly self: User }) {
  const t = useTexts();
  const language = useLanguage();
  const [isMoving, setMoving] = useState(false);
  const code = useQuery(inviteQuery).data;
  const link = code === undefined ? undefined : `${location.origin}/register?aff=${encodeURIComponent(code)}`;
  return (
    <FormSection title={t("invitations")}>
      <Flex gap="8" wrap="wrap" align="flex-end">
        <Figure label={t("pendingReward")}>
          <Money quota={self.aff_quota} />
        </Figure>
        <Figure label={t("earned")}>
          <Money quota={self.aff_history_quota} />
        </Figure>
        <Figure label={t("invited")}>{formatCount(self.aff_count, language)}</Figure>
        {self.aff_quota > 0 && (
          <Button size="sm" variant="outline" onClick={() => setMoving(true)}>
            {t("moveReward")}
          </Button>
        )}
      </Flex>
      <Text textStyle="sm" color="fg.muted">
        {t("inviteHelp")}
      </Text>
      {link !== undefined && (
        <Flex align="center" gap="2">
          <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere">
            {link}
          </Text>
          <CopyButton text={link} label={t("copyLink")} />
        </Flex>
      )}
      <Suspense>{isMoving && <MoveDialog pending={self.aff_quota} onClose={() => setMoving(false)} />}</Suspense>
    </FormSection>
  );
}
