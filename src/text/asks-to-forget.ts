import { anyStem, plainWords } from "./plain-words.js";

/** To forget, delete, no longer remember, as it is asked for, in some twenty-five languages; stems as `anyStem` reads them. */
const forgetting = `
forget delete remove erase wipe scrub unlearn stop_remembering stop_storing don't_remember do_not_remember don't_store do_not_store don't_save do_not_save don't_keep do_not_keep no_longer_remember get_rid_of
vergiss vergesst vergessen_sie losche loschen losch entferne entfernen streiche merk_dir_nicht nicht_mehr_merken
oublie oubliez oublier efface effacez effacer supprime supprimez supprimer enleve retire
olvida olvide olvidar olvidate borra borre borrar elimina elimine eliminar quita
esquece esqueca esquecer apaga apague apagar remova exclua excluir
dimentica dimentichi dimenticare cancella cancellare elimina rimuovi
vergeet verwijder verwijderen wis_uit wissen
glom radera ta_bort glem slet slett fjern unohda poista unusta kustuta
zapomnij usun skasuj zapomen smaz odstran zabudni vymaz felejtsd torold uita sterge zaboravi obrisi pozabi izbrisi
забудь забудьте удали удалите сотри убери видали видаліть изтрий забрави
ξεχασε διαγραψε σβησε unut sil
انس احذف امسح فراموش_کن حذف_کن پاک_کن תשכח תמחק שכח מחק
भूल_जा* हटा_दो हटाएं মুছে ভুলে_যাও lupakan hapus quen_di xoa ลืม ลบ
忘记 忘記 忘掉 忘了 删除 刪除 删掉 刪掉 不要记 不要記 忘れて 削除 消して 잊어 삭제 지워
`;

/** Words to forget in phrases that ask for the contrary, or for nothing. */
const contrary = `
don't_forget do_not_forget never_forget won't_forget can't_forget cannot_forget didn't_forget i_forget i_always_forget i_often_forget i_never_forget forget_about_it forget_it don't_delete do_not_delete don't_remove do_not_remove
nicht_vergessen vergiss_nicht vergiss_es_nicht vergiss_es nicht_loschen losche_nicht n'oublie_pas n'oubliez_pas ne_supprime_pas ne_efface_pas laisse_tomber no_te_olvides no_olvides no_lo_olvides no_borres
nao_esqueca nao_se_esqueca nao_esquece nao_apague non_dimenticare non_cancellare vergeet_niet glom_inte glem_ikke nie_zapomnij не_забудь не_забудьте не_забывай не_удаляй unutma jangan_lupa
别忘 別忘 不要忘 不要删 不要刪 忘れないで 消さないで 削除しないで 잊지 삭제하지
`;

/** All there is. */
const everything = `
everything anything all_memories all_my_data all_my_memories all_you_know all_of_it all_data alles tout todo tudo tutto allt alt wszystko vsechno все_что все_данные her_seyi كل_شيء 一切 全部 所有 すべて 全て 全部 모두 모든 전부
`;

const asks = new RegExp(anyStem(forgetting, true), "u");
const asksNot = new RegExp(anyStem(contrary, true), "gu");
const all = new RegExp(anyStem(everything, true), "u");

/** Longest text looked at, in characters. */
const mostCharacters = 4_000;

/**
 * Whether `text` asks that something be forgotten. "all": everything. Words that ask not to forget, and talk of what somebody
 * forgets, ask for nothing; in other languages than some twenty-five nothing is seen.
 */
export function asksToForget(text: string): "some" | "all" | null {
  const plain = plainWords(text.slice(0, mostCharacters)).replace(asksNot, " ");
  if (!asks.test(plain)) return null;
  return plain.split(/[.!?;。！？\n]+/u).some((sentence) => asks.test(sentence) && all.test(sentence))
    ? "all"
    : "some";
}
