package generate

// The vocabulary. Identifiers join a verb and a noun, or two nouns: some ten
// thousand of them.

const verbs = `parse load store fetch render merge split check verify sign seal approve decline retry flush commit revert rotate encode decode
compress index query filter sort group count sum match replace rename move copy delete create update insert drop migrate deploy restart scale
drain watch notify publish subscribe enqueue dequeue schedule cancel resume pause lock unlock allocate release validate sanitize normalize format
print trace measure sample profile cache evict warm sync backup restore archive export import upload download open close read write append truncate`

const nouns = `invoice order payment refund customer account ledger balance currency tax discount coupon cart basket item product price stock shelf
warehouse shipment parcel carrier label address region country city street postcode phone mail message thread channel topic queue broker consumer
producer event record journal offset partition cursor page row column table schema index view trigger transaction snapshot checkpoint replica
cluster node host port socket session token secret key certificate policy rule verdict request decision warrant reviewer auditor operator agent
model prompt round turn call tool result argument payload digest hash root tree leaf proof signature envelope header body field value type enum
struct slice map buffer stream reader writer scanner parser lexer compiler linker loader module package import version release branch tag commit
patch diff conflict review comment ticket issue milestone sprint backlog report chart metric counter gauge histogram alert incident runbook
dashboard budget quota limit timeout deadline interval backoff jitter retry batch window bucket shard hasher filter mapper reducer worker pool
thread mutex channel signal timer ticker clock calendar holiday shift roster salary contract vendor supplier tender quote claim policyholder
patient ward dose recipe ingredient oven menu seat booking ticketing flight gate luggage train platform track signalbox meter sensor valve pump`

const plainWords = `the a of to and in is it that for on with as was are this be by not or from at which but have an had they you were their one all
we can there been if more when will would who so no out up into them then its only some could time about these two may other than first new now
must before after every each because while where without through again once still already never always often rarely quickly slowly carefully
whole small large early late empty full broken missing stale fresh safe unsafe known unknown same different several many few most least last next
please note found changed removed added moved fixed failed passed skipped waits runs ends begins stands falls needs takes gives shows says means
against between during within beyond under over near behind beside customer-facing read-only append-only well-formed half-done day week month year`

// abroad are lines in other scripts.
func abroad() []string {
	return []string{
		"日本語のログを確認しました。請求書の合計が一致しません。", "支払い処理を再試行してください。", "在庫テーブルの移行が完了しました。", "监控告警：订单服务响应超时，请立即检查。",
		"数据库迁移已完成，未发现错误。", "请审核此次变更并确认部署到生产环境。", "결제 승인 요청이 만료되었습니다.", "배포가 완료되었습니다. 로그를 확인하세요.",
		"Проверка подписи журнала завершена успешно.", "Счёт не оплачен: срок истёк вчера.", "Η πληρωμή απέτυχε, δοκιμάστε ξανά.", "تم رفض الطلب لأن المهلة انتهت.",
		"Die Prüfsumme stimmt nicht überein; größere Änderung nötig.", "L’écriture a échoué : quota dépassé à 98 %.", "Żądanie zostało odrzucone przez recenzenta.",
		"// 注文の状態を更新する\tupdateOrder(ctx, 注文)", "SELECT 合計 FROM 売上 WHERE 月 = '五月'",
	}
}

func emoji() []string {
	return []string{" ✅", " 🚀", " ⚠️", " 🔥", " 👍🏽", " 👩‍💻", " 🇯🇵", " ❌"}
}
