import { ActionIcon, Button, CopyButton as Copy, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Check, Copy as CopyIcon, Link as LinkIcon } from "lucide-react";
import { useSay } from "../i18n";

export function CopyButton({ value, label }: { value: string; label?: string }) {
  const { t } = useSay();
  return (
    <Copy value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t("common.copied") : (label ?? t("common.copy"))}>
          <ActionIcon size={24} onClick={copy} aria-label={label ?? t("common.copy")}>
            {copied ? <Check size={14} /> : <CopyIcon size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Copy>
  );
}

/** CopyLink copies the address as it is at the click: the page may have changed it since. */
export function CopyLink() {
  const { t } = useSay();
  const clipboard = useClipboard({ timeout: 1500 });
  return (
    <Button
      variant="default"
      leftSection={clipboard.copied ? <Check size={14} /> : <LinkIcon size={14} />}
      onClick={() => clipboard.copy(window.location.href)}
    >
      {clipboard.copied ? t("common.copied") : t("common.copyLink")}
    </Button>
  );
}
