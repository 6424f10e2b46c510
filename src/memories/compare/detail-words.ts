/*
 * Words that make two statements different however alike they read, in the languages that PostgreSQL indexes and some
 * more. Written by hand after grammars; days and months come from the runtime's locale data. "/" parts forms of one word,
 * "_" is a space within one, "*" any ending. "~" marks what is often another word, in any language: it counts only
 * against another of its kind.
 */

/**
 * Numerals, a language a line: 0 to 19 | 20 to 90 | 100, 1,000, 1,000,000 | ordinals to twentieth, then
 * thirtieth to hundredth | the order in one word: ones first ("u…t" with what is between) or tens. "-" where
 * there is none.
 */
export const numerals = `
en | zero ~one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen | twenty thirty forty fifty sixty seventy eighty ninety | hundred/hundreds thousand/thousands million/millions | first/firstly second/secondly third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth hundredth
de | ~null ~ein/~eins/~eine/~einen/~einem/~einer/~eines zwei/zwo drei vier funf/fuenf sechs sieben acht neun zehn elf zwolf/zwoelf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn | zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig | hundert tausend million/millionen | erste/erster/ersten/erstes/erstem/erstens zweite/zweiter/zweiten/zweites/zweitem dritte/dritter/dritten/drittes vierte/vierter/vierten funfte/funfter/funften sechste/sechsten siebte/siebten achte/achten neunte/neunten zehnte/zehnten elfte/elfter/elften zwolfte/zwolfter/zwolften dreizehnte/dreizehnter/dreizehnten vierzehnte/vierzehnter/vierzehnten funfzehnte/funfzehnter/funfzehnten sechzehnte/sechzehnter/sechzehnten siebzehnte/siebzehnter/siebzehnten achtzehnte/achtzehnter/achtzehnten neunzehnte/neunzehnter/neunzehnten zwanzigste/zwanzigster/zwanzigsten dreissigste/dreissigster/dreissigsten vierzigste/vierzigster/vierzigsten funfzigste/funfzigster/funfzigsten sechzigste/sechzigster/sechzigsten siebzigste/siebzigster/siebzigsten achtzigste/achtzigster/achtzigsten neunzigste/neunzigster/neunzigsten hundertste/hundertster/hundertsten | u und t
nl | ~nul ~een/~eentje twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien | twintig dertig veertig vijftig zestig zeventig tachtig negentig | honderd duizend miljoen | eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde dertiende veertiende vijftiende zestiende zeventiende achttiende negentiende twintigste | u en t
af | nul ~een twee drie vier vyf ses sewe agt nege tien elf twaalf | twintig dertig veertig vyftig sestig sewentig tagtig negentig | honderd duisend miljoen | eerste tweede derde vierde
fr | zero ~un/~une deux trois quatre cinq ~six sept huit ~neuf ~dix onze douze treize quatorze quinze seize dix_sept dix_huit dix_neuf | vingt/vingts trente quarante cinquante soixante soixante_dix/septante quatre_vingt/octante/huitante quatre_vingt_dix/nonante | ~cent/~cents ~mille million/millions | premier/premiere/1er deuxieme/second/seconde troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme onzieme douzieme treizieme quatorzieme quinzieme seizieme dix_septieme dix_huitieme dix_neuvieme vingtieme
es | cero ~un/~uno/~una ~dos tres cuatro cinco ~seis siete ocho nueve diez ~once ~doce trece catorce quince dieciseis diecisiete dieciocho diecinueve | veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa | cien/ciento mil millon/millones | primer/primero/primera segundo/segunda tercer/tercero/tercera cuarto/cuarta quinto/quinta sexto/sexta septimo/septima octavo/octava noveno/novena decimo/decima undecimo/undecima/onceavo duodecimo/duodecima/doceavo decimotercero/decimotercera/decimotercer decimocuarto/decimocuarta decimoquinto/decimoquinta decimosexto/decimosexta decimoseptimo/decimoseptima decimoctavo/decimoctava decimonoveno/decimonovena vigesimo/vigesima
pt | zero ~um/~uma dois/duas tres quatro cinco ~seis sete oito nove dez onze doze treze catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove | vinte trinta quarenta cinquenta sessenta setenta oitenta noventa | cem/cento mil milhao/milhoes | primeiro/primeira segundo/segunda terceiro/terceira quarto/quarta quinto/quinta sexto/sexta setimo/setima oitavo/oitava nono/nona decimo/decima decimo_primeiro/decima_primeira decimo_segundo/decima_segunda decimo_terceiro/decima_terceira decimo_quarto/decima_quarta decimo_quinto/decima_quinta
gl | cero ~un/~unha ~dous/~duas tres catro cinco ~seis sete oito nove dez ~once ~doce | vinte trinta corenta cincuenta sesenta setenta oitenta noventa | cen mil millon | primeiro segundo terceiro cuarto
it | zero ~un/~uno/~una ~due tre quattro cinque ~sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove | venti trenta quaranta cinquanta sessanta settanta ottanta novanta | cento mille/~mila milione/milioni | primo/prima secondo/seconda terzo/terza quarto/quarta quinto/quinta sesto/sesta settimo/settima ottavo/ottava nono/nona decimo/decima undicesimo/undicesima dodicesimo/dodicesima tredicesimo/tredicesima quattordicesimo/quattordicesima quindicesimo/quindicesima sedicesimo/sedicesima diciassettesimo/diciassettesima diciottesimo/diciottesima diciannovesimo/diciannovesima ventesimo/ventesima | t u
ca | zero ~un/~una ~dos/dues tres quatre cinc ~sis ~set vuit ~nou deu onze dotze tretze catorze quinze setze disset divuit dinou | vint trenta quaranta cinquanta seixanta setanta vuitanta noranta | ~cent mil milio | primer/primera segon/segona tercer/tercera quart/quarta
ro | zero ~un/~o/~una/~unu doi/doua trei patru cinci sase sapte ~opt ~noua zece unsprezece doisprezece/douasprezece treisprezece paisprezece cincisprezece saisprezece saptesprezece optsprezece nouasprezece | douazeci treizeci patruzeci cincizeci saizeci saptezeci optzeci nouazeci | suta/sute mie/mii milion/milioane | primul/prima doilea/doua treilea/treia patrulea/patra cincilea/cincea
sv | ~noll ~en/~ett tva tre fyra ~fem ~sex sju atta ~nio ~tio elva tolv tretton fjorton femton sexton sjutton arton nitton | tjugo trettio fyrtio femtio sextio sjuttio attio nittio | hundra tusen miljon/miljoner | forsta/forste andra/andre tredje fjarde femte sjatte sjunde attonde nionde tionde elfte tolfte trettonde fjortonde femtonde sextonde sjuttonde artonde nittonde tjugonde | t u
da | ~nul ~en/~et ~to tre ~fire ~fem ~seks syv otte ~ni ~ti elleve tolv tretten fjorten femten seksten sytten atten nitten | tyve tredive fyrre halvtreds tres halvfjerds firs halvfems | hundrede tusind/tusinde million/millioner | forste anden/andet tredje fjerde femte sjette syvende ottende niende tiende ellevte/elvte tolvte trettende fjortende femtende sekstende syttende attende nittende tyvende | u og t
no | ~null ~en/~ett/~et ~to tre ~fire ~fem ~seks sju/syv atte ~ni ~ti elleve tolv tretten fjorten femten seksten sytten atten nitten | tjue/tyve tretti forti femti seksti sytti atti nitti | hundre tusen million/millioner | forste andre tredje fjerde femte sjette sjuende attende niende tiende ellevte/elvte tolvte trettende fjortende femtende sekstende syttende - nittende tjuende | t u
is | ~null einn/~ein/eitt tveir/tvaer/tvo þrir/þrjar/þrju fjorir/fjorar/fjogur fimm ~sex sjo atta niu tiu ellefu tolf | tuttugu þrjatiu fjorutiu fimmtiu sextiu sjotiu attatiu niutiu | hundrad þusund milljon | fyrsti/fyrsta annar/onnur þridji/þridja fjordi
fi | nolla yksi/~yhden/~yhta kaksi/kahden/kahta kolme/kolmen/kolmea nelja/neljan/neljaa viisi/viiden/viitta kuusi/kuuden/kuutta seitseman kahdeksan yhdeksan kymmenen yksitoista kaksitoista kolmetoista neljatoista viisitoista kuusitoista seitsemantoista kahdeksantoista yhdeksantoista | kaksikymmenta kolmekymmenta neljakymmenta viisikymmenta kuusikymmenta seitsemankymmenta kahdeksankymmenta yhdeksankymmenta | sata/sataa tuhat/tuhatta miljoona/miljoonaa | ensimmainen/ensimmaisen/ensimmaista toinen/toisen/toista kolmas/kolmannen neljas/neljannen viides kuudes seitsemas kahdeksas yhdeksas kymmenes | t u
et | ~null uks/~uhe/~uht kaks/kahe/kaht kolm/kolme neli/nelja/nelja viis/viie/viit kuus/kuue/kuut seitse/seitsme kaheksa uheksa kumme uksteist kaksteist kolmteist neliteist viisteist kuusteist seitseteist kaheksateist uheksateist | kakskummend kolmkummend nelikummend viiskummend kuuskummend seitsekummend kaheksakummend uheksakummend | ~sada tuhat miljon | esimene/esimese teine/teise kolmas/kolmanda neljas/neljanda viies kuues seitsmes kaheksas uheksas kumnes
hu | nulla ~egy ketto/~ket harom negy ~ot ~hat ~het nyolc kilenc tiz tizenegy tizenketto/tizenket tizenharom tizennegy tizenot tizenhat tizenhet tizennyolc tizenkilenc | husz/huszon harminc negyven otven hatvan hetven nyolcvan kilencven | szaz ezer millio | elso masodik harmadik negyedik otodik hatodik hetedik nyolcadik kilencedik tizedik | t u
pl | zero ~jeden/~jedna/~jedno/~jednego dwa/dwie/dwoch/dwaj/dwom/dwoma trzy/trzech/trzej cztery/czterech/czterej piec/pieciu szesc/szesciu siedem/siedmiu osiem/osmiu dziewiec/dziewieciu dziesiec/dziesieciu jedenascie dwanascie trzynascie czternascie pietnascie szesnascie siedemnascie osiemnascie dziewietnascie | dwadziescia trzydziesci czterdziesci piecdziesiat szescdziesiat siedemdziesiat osiemdziesiat dziewiecdziesiat | sto tysiac/tysiace/tysiecy milion/miliony/milionow | pierwszy/pierwsza/pierwsze/pierwszego drugi/druga/drugie/drugiego trzeci/trzecia/trzecie czwarty/czwarta piaty/piata szosty/szosta siodmy/siodma osmy/osma dziewiaty/dziewiata dziesiaty/dziesiata jedenasty/jedenasta/jedenastego/jedenastym dwunasty/dwunasta/dwunastego/dwunastym trzynasty/trzynasta/trzynastego/trzynastym czternasty/czternasta/czternastego/czternastym pietnasty/pietnasta/pietnastego/pietnastym szesnasty/szesnasta/szesnastego/szesnastym siedemnasty/siedemnasta/siedemnastego/siedemnastym osiemnasty/osiemnasta/osiemnastego/osiemnastym dziewietnasty/dziewietnasta/dziewietnastego/dziewietnastym dwudziesty/dwudziesta/dwudziestego/dwudziestym
cs | nula ~jeden/~jedna/~jedno/~jednoho dva/dve/dvou/dvema tri/tri/trech ctyri/ctyr ~pet/peti sest/sesti sedm/sedmi osm/osmi devet/deviti deset/deseti jedenact dvanact trinact ctrnact patnact sestnact sedmnact osmnact devatenact | dvacet tricet ctyricet padesat sedesat sedmdesat osmdesat devadesat | sto tisic/tisice/tisic milion/miliony/milionu | prvni/prvniho druhy/druha/druhe treti ctvrty/ctvrta paty/pata sesty/sesta sedmy/sedma osmy/osma devaty/devata desaty/desata
sk | nula ~jeden/~jedna/~jedno dva/dve/dvoch tri/troch styri/styroch pat/piati sest sedem osem devat desat jedenast dvanast trinast strnast patnast sestnast sedemnast osemnast devatnast | dvadsat tridsat styridsat patdesiat sestdesiat sedemdesiat osemdesiat devatdesiat | sto tisic milion | prvy/prva druhy/druha treti/tretia stvrty/stvrta piaty siesty siedmy osmy deviaty desiaty
sl | nic ~en/~ena/~eno dva/dve/dveh tri/treh/trije stiri/stirih/stirje ~pet sest sedem osem devet deset enajst dvanajst | dvajset trideset stirideset petdeset sestdeset sedemdeset osemdeset devetdeset | sto tisoc milijon | prvi/prva drugi/druga tretji/tretja cetrti
hr | nula ~jedan/~jedna/~jedno dva/dvije/dve/dvoje tri/troje cetiri/cetvero ~pet sest sedam osam devet deset jedanaest dvanaest trinaest cetrnaest petnaest sesnaest sedamnaest osamnaest devetnaest | dvadeset trideset cetrdeset pedeset sezdeset/sesdeset sedamdeset osamdeset devedeset | sto/stotinu tisuca/tisucu/hiljada/hiljadu milijun/milion | prvi/prva drugi/druga treci/treca cetvrti/cetvrta peti sesti sedmi osmi deveti deseti
sr | нула ~један/~једна/~једно два/две/двоје три/троје четири ~пет шест седам осам девет десет једанаест дванаест тринаест | двадесет тридесет четрдесет педесет шездесет седамдесет осамдесет деведесет | сто хиљада/хиљаду милион | први/прва други/друга трећи/трећа четврти
bg | нула ~един/~една/~едно два/две/двама три/трима четири/четирима пет/петима шест седем осем девет десет единадесет дванадесет тринадесет | двадесет тридесет четиридесет петдесет шестдесет седемдесет осемдесет деветдесет | сто хиляда/хиляди милион | първи/първа/първата/първият втори/втора/втората трети/трета четвърти/четвърта пети шести седми осми девети десети
ru | ноль/нуль ~один/~одна/~одно/~одного/~одну два/две/двух/двум/двумя/двое трех/три/трем/тремя/трое четыре/четырех/четверо пять/пяти/пятеро шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать двенадцать/двенадцати тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать | двадцать/двадцати тридцать/тридцати сорок/сорока пятьдесят/пятидесяти шестьдесят семьдесят восемьдесят девяносто | сто/ста тысяча/тысячи/тысяч/тысячу миллион/миллиона/миллионов | первый/первая/первое/первого/первой/первую второй/вторая/второе/второго/вторую третий/третья/третье/третьего/третью четвертый/четвертая/четвертого пятый/пятая/пятого шестой/шестая/шестого седьмой/седьмая восьмой/восьмая девятый/девятая десятый/десятая одиннадцатый/одиннадцатая/одиннадцатого/одиннадцатом двенадцатый/двенадцатая/двенадцатого/двенадцатом тринадцатый/тринадцатая/тринадцатого/тринадцатом четырнадцатый/четырнадцатая/четырнадцатого/четырнадцатом пятнадцатый/пятнадцатая/пятнадцатого/пятнадцатом шестнадцатый/шестнадцатая/шестнадцатого/шестнадцатом семнадцатый/семнадцатая/семнадцатого/семнадцатом восемнадцатый/восемнадцатая/восемнадцатого/восемнадцатом девятнадцатый/девятнадцатая/девятнадцатого/девятнадцатом двадцатый/двадцатая/двадцатого/двадцатом
uk | нуль ~один/~одна/~одне/~одного/~одну два/дві/двох/двом/двоє три/трьох/троє чотири/чотирьох п'ять/п'яти/п'ятеро шість/шести сім/семи вісім/восьми дев'ять/дев'яти десять/десяти одинадцять дванадцять тринадцять чотирнадцять п'ятнадцять шістнадцять сімнадцять вісімнадцять дев'ятнадцять | двадцять тридцять сорок п'ятдесят шістдесят сімдесят вісімдесят дев'яносто | сто тисяча/тисячі/тисяч мільйон/мільйони/мільйонів | перший/перша/перше/першого другий/друга/друге/другого третій/третя/третього четвертий/четверта п'ятий/п'ята шостий/шоста сьомий/сьома восьмий/восьма дев'ятий/дев'ята десятий/десята
lt | nulis ~vienas/~viena/~vieno du/dvi/dviejų trys/tris/trijų keturi/keturios penki/penkios šeši/šešios septyni/septynios aštuoni/aštuonios devyni/devynios dešimt vienuolika dvylika trylika | dvidešimt trisdešimt keturiasdešimt penkiasdešimt šešiasdešimt septyniasdešimt aštuoniasdešimt devyniasdešimt | šimtas tūkstantis/tūkstančiai milijonas | pirmas/pirma/pirmoji antras/antra/antroji trečias/trečia ketvirtas/ketvirta penktas
lv | nulle ~viens/~viena/~vienu divi/divas/divus/diviem tris/trijus/trim cetri/cetras pieci/piecas/piecus sesi/sesas/sesus septini/septinas astoni/astonas devini/devinas desmit vienpadsmit divpadsmit trispadsmit | divdesmit trisdesmit cetrdesmit piecdesmit sesdesmit septindesmit astondesmit devindesmit | simts/simt tukstotis/tukstosi miljons | pirmais/pirma/pirmo otrais/otra/otro tresais/tresa ceturtais/ceturta piektais
el | μηδέν ~ένα/~ένας/~μία/~μια/~έναν δύο/δυο τρία/τρεις/τριών τέσσερα/τέσσερις πέντε έξι επτά/εφτά οκτώ/οχτώ εννέα/εννιά δέκα έντεκα δώδεκα δεκατρία δεκατέσσερα δεκαπέντε δεκαέξι δεκαεπτά δεκαοκτώ δεκαεννέα | είκοσι τριάντα σαράντα πενήντα εξήντα εβδομήντα ογδόντα ενενήντα | εκατό χίλια/χιλιάδες εκατομμύριο/εκατομμύρια | πρώτος/πρώτη/πρώτο/πρώτου δεύτερος/δεύτερη/δεύτερο τρίτος/τρίτη/τρίτο τέταρτος/τέταρτη/τέταρτο πέμπτος/πέμπτη/πέμπτο έκτος/έκτη έβδομος/έβδομη όγδοος/όγδοη ένατος/ένατη δέκατος/δέκατη
tr | sıfır ~bir iki üç dört beş altı yedi sekiz dokuz ~on on_bir on_iki | yirmi otuz ~kırk ~elli altmış yetmiş seksen doksan | yüz ~bin milyon | birinci/ilk ikinci üçüncü dördüncü beşinci altıncı yedinci sekizinci dokuzuncu onuncu
az | sıfır ~bir iki üç dörd beş altı yeddi səkkiz doqquz ~on | iyirmi otuz qırx ~əlli altmış yetmiş səksən doxsan | yüz ~min milyon | birinci ikinci üçüncü dördüncü
sq | zero ~një dy tre/tri kater pese gjashte shtate tete nente dhjete | njezet tridhjete dyzet pesedhjete gjashtedhjete shtatedhjete tetedhjete nentedhjete | qind mije milion | parë/pare dytë/dyte trete katert
eu | zero ~bat ~bi hiru lau bost sei zazpi zortzi bederatzi hamar hamaika hamabi | hogei hogeita_hamar berrogei berrogeita_hamar hirurogei - laurogei - | ehun ~mila milioi | lehen/lehenengo bigarren hirugarren laugarren bosgarren
ga | ~naid ~aon/~amhain ~dha/~do/~beirt ~tri/~triur ~ceathair/~ceithre/~ceathrar ~cuig/~cuigear ~se ~seacht ~ocht ~naoi ~deich | ~fiche ~triocha ~daichead ~caoga ~seasca ~seachto ~ochto ~nocha | ~cead ~mile ~milliun | ~chead/~cead ~dara ~triu ~ceathru ~cuigiu
cy | ~dim ~un ~dau/~dwy ~tri/~tair ~pedwar/~pedair ~pump ~chwech ~saith ~wyth ~naw ~deg | ~ugain - - - - - - - | ~cant ~mil ~miliwn | ~cyntaf ~ail ~trydydd ~pedwerydd
hy | զրո ~մեկ երկու երեք չորս հինգ վեց յոթ ութ ինը տասը տասնմեկ տասներկու | քսան երեսուն քառասուն հիսուն վաթսուն յոթանասուն ութսուն իննսուն | հարյուր հազար միլիոն | առաջին երկրորդ երրորդ չորրորդ հինգերորդ
ka | ნული ~ერთი ორი სამი ოთხი ხუთი ექვსი შვიდი რვა ცხრა ათი თერთმეტი თორმეტი | ოცი ოცდაათი ორმოცი ორმოცდაათი სამოცი სამოცდაათი ოთხმოცი ოთხმოცდაათი | ასი ათასი მილიონი | პირველი მეორე მესამე მეოთხე მეხუთე
yi | נול איין/איינס צוויי דריי פיר פינף זעקס זיבן אכט ניין צען עלף צוועלף | צוואנציק דרייסיק פערציק פופציק זעכציק זיבעציק אכציק ניינציק | הונדערט טויזנט מיליאן | ערשטער/ערשטע צווייטער/צווייטע דריטער/דריטע
ar | صفر ~واحد/~واحدة اثنان/اثنين/اثنتان/اثنتين/إثنان ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني/ثمان تسعة/تسع عشرة/عشر - - | عشرون/عشرين ثلاثون/ثلاثين أربعون/أربعين خمسون/خمسين ستون/ستين سبعون/سبعين ثمانون/ثمانين تسعون/تسعين | مئة/مائة ألف/آلاف مليون/ملايين | الأول/الأولى/أول/أولى الثاني/الثانية/ثاني الثالث/الثالثة الرابع/الرابعة الخامس/الخامسة السادس/السادسة السابع/السابعة الثامن/الثامنة التاسع/التاسعة العاشر/العاشرة
he | אפס ~אחד/~אחת שניים/שתיים/שני/שתי שלושה/שלוש ארבעה/ארבע חמישה/חמש שישה/שש שבעה/שבע שמונה תשעה/תשע עשרה/עשר | עשרים שלושים ארבעים חמישים שישים שבעים שמונים תשעים | מאה אלף מיליון | ראשון/ראשונה שנייה/שניה שלישי/שלישית רביעי/רביעית חמישי/חמישית שישי/שישית
fa | صفر ~یک دو سه چهار پنج شش هفت هشت نه ده یازده دوازده سیزده چهارده پانزده شانزده هفده هجده نوزده | بیست سی چهل پنجاه شصت هفتاد هشتاد نود | صد هزار میلیون | اول/نخست دوم سوم چهارم پنجم ششم هفتم هشتم نهم دهم
ur | صفر ~ایک دو تین چار پانچ چھ سات آٹھ نو دس گیارہ بارہ | بیس تیس چالیس پچاس ساٹھ ستر اسی نوے | سو ہزار ملین | پہلا/پہلی/پہلے دوسرا/دوسری/دوسرے تیسرا/تیسری چوتھا/چوتھی پانچواں
hi | शून्य ~एक दो तीन चार पांच/पाँच छह/छः/छे सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस | बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे | सौ हजार/हज़ार लाख | पहला/पहली/पहले दूसरा/दूसरी/दूसरे तीसरा/तीसरी/तीसरे चौथा/चौथी पांचवां/पांचवीं
ne | शून्य ~एक/एउटा दुई/दुइ/दुईवटा तीन चार पाँच/पांच छ सात आठ नौ दश/दस एघार बाह्र | बीस तीस चालीस पचास साठी सत्तरी असी नब्बे | सय हजार लाख | पहिलो दोस्रो/दोश्रो तेस्रो चौथो पाँचौं
bn | শূন্য ~এক/~একটি/~একটা দুই/দুটি/দুটো তিন/তিনটি চার/চারটি পাঁচ/পাঁচটি ছয় সাত আট নয় দশ এগারো বারো | বিশ/কুড়ি ত্রিশ চল্লিশ পঞ্চাশ ষাট সত্তর আশি নব্বই | একশ হাজার লাখ | প্রথম দ্বিতীয় তৃতীয় চতুর্থ পঞ্চম
ta | பூஜ்யம் ~ஒன்று/~ஒரு இரண்டு/இரு மூன்று நான்கு/நாலு ஐந்து/அஞ்சு ஆறு ஏழு எட்டு ஒன்பது பத்து | இருபது முப்பது நாற்பது ஐம்பது அறுபது எழுபது எண்பது தொண்ணூறு | நூறு ஆயிரம் லட்சம் | முதல்/முதலாவது இரண்டாவது/இரண்டாம் மூன்றாவது/மூன்றாம் நான்காவது
te | సున్నా ~ఒకటి/~ఒక రెండు/ఇద్దరు మూడు/ముగ్గురు నాలుగు/నలుగురు ఐదు/ఐదుగురు ఆరు ఏడు ఎనిమిది తొమ్మిది పది | ఇరవై ముప్పై నలభై యాభై అరవై డెబ్బై ఎనభై తొంభై | వంద/వందల వెయ్యి/వేల లక్ష | మొదటి రెండవ/రెండో మూడవ/మూడో
id | nol/kosong satu dua tiga empat ~lima enam tujuh delapan/lapan sembilan sepuluh sebelas dua_belas | dua_puluh tiga_puluh empat_puluh lima_puluh enam_puluh tujuh_puluh delapan_puluh sembilan_puluh | seratus/ratus seribu/ribu juta | pertama kedua ketiga keempat kelima keenam ketujuh kedelapan kesembilan kesepuluh
tl | sero ~isa/~isang dalawa/dalawang tatlo/tatlong apat lima/limang anim pito/pitong walo/walong siyam sampu/sampung | dalawampu tatlumpu apatnapu limampu - - - - | daan libo milyon | una ikalawa/pangalawa ikatlo/pangatlo
vi | ~không ~một ~hai ~ba ~bốn ~năm ~sáu ~bảy ~tám ~chín ~mười | - - - - - - - - | ~trăm ~nghìn/~ngàn ~triệu | ~nhất ~thứ_hai ~thứ_ba
sw | sifuri moja mbili/wawili tatu/watatu nne/wanne ~tano/watano ~sita saba ~nane/wanane tisa kumi | ishirini thelathini arobaini hamsini sitini sabini themanini tisini | ~mia elfu milioni | kwanza ~pili ~tatu
ko | 영 ~한/하나/~일 두/둘/~이 세/셋/~삼 네/넷/~사 다섯/~오 여섯/~육 일곱/~칠 여덟/~팔 아홉/~구 열/~십 열한 열두 | 스물/스무 서른 마흔 쉰 예순 일흔 여든 아흔 | 백 천 백만 | 첫째/첫번째/첫 둘째/두번째 셋째/세번째 넷째/네번째
ja | 零 一/一つ/ひとつ/一人 二/二つ/ふたつ/二人 三/三つ/みっつ/三人 四/四つ/よっつ/四人 五/五つ/いつつ/五人 六/六つ/むっつ/六人 七/七つ/ななつ 八/八つ/やっつ 九/九つ/ここのつ 十/とお | 二十 三十 四十 五十 六十 七十 八十 九十 | 百 千 百万 | 最初 - -
zh | 零/〇 一/壹 二/两/兩/贰/俩 三/叁/仨 四/肆 五/伍 六/陆/陸 七/柒 八/捌 九/玖 十/拾 十一 十二 十三 十四 十五 十六 十七 十八 十九 | 二十 三十 四十 五十 六十 七十 八十 九十 | 百 千 百万 | 第一 第二 第三 第四 第五 第六 第七 第八 第九 第十
th | ศูนย์ หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า สิบ | ยี่สิบ สามสิบ สี่สิบ ห้าสิบ หกสิบ เจ็ดสิบ แปดสิบ เก้าสิบ | ร้อย พัน ล้าน | แรก - -
`;

/** Fractions and multiples: words of one value, each followed by it. */
export const fractions = `
half/halves/halb/halbe/halben/halber/halbes/halve/moitie/demi/demie/mitad/medio/media/meta/mezzo/mezza/metade/meio/meia/halv/halva/halvt/puoli/puolet/fel/polovina/polovice/polowa/pol/половина/половину/половины/пол/половине/polovinu/μισό/μισή/μισά/yarım/yarı/نصف/نیم/חצי/आधा/आधी/setengah/nửa/半/一半/半分/절반/반/ครึ่ง 1/2
quarter/quarters/viertel/quart/cuarto/kvart/четверть/τέταρτο/çeyrek/ربع/רבע/चौथाई/seperempat 1/4
twice/double/zweimal/doppelt/twee_keer/tweemaal/deux_fois/dos_veces/doble/duas_vezes/dobro/due_volte/doppio/dubbelt/dobbelt/dvakrat/dwukrotnie/dwa_razy/дважды/вдвое/двічі/δις/διπλά/两次/兩次/二回/두번 2x
once/einmal/eenmaal/une_fois/una_vez/uma_vez/una_volta/raz/jednou/однажды 1x
thrice/triple/dreimal/trois_fois/tres_veces/tres_vezes/tre_volte/dreifach 3x
dozen/dozens/dutzend/douzaine/docena/dozzina/duzia/dussin/tucet/tuzin/дюжина 12
couple/~paar 2
twenties 20s
thirties 30s
forties 40s
fifties 50s
sixties 60s
seventies 70s
eighties 80s
nineties 90s
`;

/** What joins tens and ones, as "y" in "treinta y cinco". */
export const joiners = "and und en et y e og och i si si și og ja και ve ו و och";

/** Units of measure: names of one unit by "/", one after another. Symbols stand for themselves. */
export const units = `
km/kms/kilomet*/kilómet*/chilomet*/quilomet*/километр*/кілометр*/км/χιλιόμετρ*/كيلومتر/کیلومتر/公里/千米/キロ/킬로미터
~mi/mile/miles/meile/meilen/milla/millas/milha/milhas/miglio/miglia/миля/мили/миль/mijl/mijlen/英里/マイル/마일
~m/meter/meters/metre/metres/metern/metro/metros/metri/метр/метра/метров/公尺
cm/centimet*/zentimet*/сантиметр*/см/厘米
mm/millimet*/миллиметр*/мм
foot/feet/ft
inch/inches/zoll/pouce/pouces/pulgada/pulgadas
yard/yards
kg/kgs/kilo/kilos/kilogra*/chilo/chili/килогра*/кг/公斤/キログラム/킬로그램
~g/gram/grams/gramm/grammes/gramos/грамм*
mg/milligra*/миллиграмм*/мг
lb/lbs/pound/pounds/pfund
oz/ounce/ounces
ton/tons/tonne/tonnes/tonnen/tonelada*/тонн*
~l/liter/liters/litre/litres/litro/litros/litri/литр*/л/升/リットル
ml/millilit*/миллилитр*/мл
gallon/gallons
~pint/pints
quart/quarts
acre/acres
hectare/hectares/hektar/hectarea/hectareas/ettaro/ettari/гектар*
second/seconds/sec/secs/sekunde/sekunden/secondes/segundos/secondi/секунд*/秒
minute/minutes/min/mins/minuten/minuto/minutos/minuti/minut/минут*/хвилин*/λεπτ*/دقيقة/دقائق/דקה/דקות/मिनट/dakika/phút/分/分钟/分鐘/분
hour/hours/hr/hrs/stunde/stunden/heure/heures/hora/horas/ora/ore/uur/uren/timme/timmar/time/timer/tunti/tuntia/godzin*/hodin*/час/часа/часов/годин*/ώρα/ώρες/ساعة/ساعات/שעה/שעות/घंटा/घंटे/saat/jam/giờ/小时/小時/時間/시간
~day/days/tag/tage/tagen/~jour/jours/dia/dias/giorno/giorni/dag/dagen/dagar/dage/dager/paiva/paivaa/dzien/dni/den/день/дня/дней/дні/днів/ημέρ*/μέρα/μέρες/يوم/أيام/יום/ימים/दिन/gün/hari/ngày/天/日/일
~week/weeks/wk/wks/woche/wochen/semaine/semaines/semana/semanas/settimana/settimane/weken/vecka/veckor/uge/uger/uke/uker/viikko/viikkoa/tydzien/tygodni*/tyden/tydny/недел*/тиж*/εβδομάδ*/أسبوع/أسابيع/שבוע/שבועות/सप्ताह/हफ्ते/hafta/minggu/tuần/周/週/星期/週間/주
~month/months/monat/monate/monaten/mois/mes/meses/mese/mesi/maand/maanden/manad/manader/maned/maneder/kuukausi/kuukautta/miesiac*/mesic*/месяц*/місяц*/μήνα*/μήνες/شهر/أشهر/חודש/חודשים/महीना/महीने/ay/bulan/tháng/个月/個月/月/ヶ月/개월
~year/years/yr/yrs/jahr/jahre/jahren/an/ans/annee/annees/ano/anos/anno/anni/jaar/jaren/ar/vuosi/vuotta/rok/rokow/lat/roku/let/год/года/лет/рік/років/χρόνι*/έτη/سنة/سنوات/שנה/שנים/साल/yıl/tahun/năm/年/년
%/percent/prozent/procent/pourcent/percento/процент*
$/dollar/dollars/usd/dolar*/доллар*/долар*/美元/ドル/달러
€/euro/euros/eur/евро/євро/欧元/歐元/ユーロ/유로
£/pound_sterling/gbp
¥/yen/jpy/yuan/cny/rmb/日元/円/元/人民币
₹/rupee/rupees/inr/रुपये/रुपया
₽/ruble/rubles/rub/рубл*
chf/franken
~cup/cups/tasse/tassen/tasses/taza/tazas/tazza/tazze/xicara/xicaras/kopp/koppar/чашк*/杯
~glass/glasses/glas/glaser/verre/verres/vaso/vasos/bicchiere/bicchieri/copo/copos/стакан*
bottle/bottles/flasche/flaschen/bouteille/bouteilles/botella/botellas/bottiglia/bottiglie/garrafa/garrafas/бутыл*
tablespoon/tablespoons/tbsp
teaspoon/teaspoons/tsp
kcal/calorie/calories/kalorien/calorias/calorie
joule/joules/kj
kb/kilobyte/kilobytes
mb/megabyte/megabytes
gb/gigabyte/gigabytes
tb/terabyte/terabytes
mph
kph/kmh
celsius/°c
fahrenheit/°f
am/vormittags/π_μ
pm/nachmittags/μ_μ
`;

/** Negations: those of which each counts (but two next to each other are none) | what only comes with them, or alone. */
export const negations = `
dont doesnt didnt isnt arent wasnt werent wont cant couldnt wouldnt shouldnt hasnt havent hadnt aint barely scarcely
avoid avoids avoided avoiding refuse refuses refused refusing lack lacks lacked lacking except excluding kaum meidet
vermeidet verweigert evite refuse evita rechaza rifiuta избегает отказывается едва
not no never none cannot without neither nor nobody nothing nowhere hardly unable nicht kein keine keinen keinem keiner keines nie niemals ohne weder nirgends nichts niemand niet geen nooit zonder niets niemand inte ingen inget inga aldrig utan ej icke ikke ikkje aldri aldrig uden uten ekki aldrei nie geen
ne n' ez non nao não ne не ні nie nu ni nem ne sem nu не níl ní gan nid δεν μη μην ei eivät eivat älä emme ette ilman pole mitte nėra nera nav bez mos nuk ոչ չէ չի չունի არ არა ვერ 
לא אין אינו אינה אינם בלי נישט ניט نه نیست هرگز بدون لا ليس ليست لم لن غير بدون ولا نہیں مت نہ नहीं नही न मत बिना না নয় নেই নি नाही ਨਹੀਂ இல்லை அல்ல இல்லாத வேண்டாம் లేదు కాదు ಇಲ್ಲ ಬೇಡ ഇല്ല അല്ല വേണ്ട छैन होइन
değil yok hayır deyil tidak bukan jangan tanpa belum hindi wala huwag không chưa chẳng đừng 안 못 않 없 아니 без nincs nélkül sin sans senza sem fara fără bez brez ohne 
| asla hiç hiçbir pas jamais aucun aucune rien guère nadie ningún ninguna ninguno tampoco jamás jamas mai niente nessun nessuna nessuno mica nunca nada ninguém nenhum nenhuma mai res niciodată nimic nimeni nigdy nic nikt żaden żadna nikdy nic nikdo žádný žádná nikoli nič nikada nikad ništa nitko никогда ничего никто никакой нет ніколи нічого ніхто немає никога нищо никой няма никада ποτέ τίποτα κανείς soha semmi senki sohasem koskaan mitään kukaan kunagi midagi keinekord niekada nieko nekad nekas inoiz אף_פעם מעולם מאף هیچ أبدا قط کبھی_نہیں कभी_नहीं
`;

/** Endings and parts of words that negate, in scripts or languages that join them to the verb: a pattern of plain words. */
export const negatedForms =
  "(?<=\\p{L})[-‐‑](?:free|frei|fri|vrij|less)(?!\\p{L})|(?<![\\p{L}\\p{M}])(?:안|못)(?=\\s)|않|없|아니|지\\s?(?:마|못)|(?<!少|危|汚|切|幼)な(?:い|く|かっ|け)|ません|ずに|(?:没|沒)(?!关系|關係)|不(?!错|錯|仅|僅|但|过|過|管|论|論|断|斷)|无(?!论|聊)|無(?!論|聊|料)|勿|ไม่|มิได้|មិន|ບໍ່|မ[\\p{L}\\p{M}]+(?:ဘူး|ပါ)|\\p{L}m[iıuü]yor|\\p{L}{2}m[ae]z(?=$|\\P{L})|\\p{L}m[ae]d[iıuü]|(?<=\\p{L}{3})s[iıuü]z(?=$|\\P{L})|மாட்டா|(?:ஆ|ா)மல்";

/** Beginnings of a word that make it the contrary of the rest. */
export const negatingPrefixes =
  "un in im ir il dis non ne nie не ни нe anti ab ohn a չ ن نمی می_ن אי ба غیر غير";

/** Endings that make a word the contrary of the rest. */
export const negatingSuffixes = "less free los frei loos vrij lös løs fri ton";

/** Words that one statement may have besides: additions. */
export const additions = `
and & und et y og och и та και și 和 与 與 及 및 và
also too another additional additionally besides moreover likewise further extra else other others furthermore plus again still as_well
auch ebenfalls weitere weiterer weiteres weiteren noch zusatzlich ausserdem andere anderer anderes anderen ebenso zudem wieder
aussi encore autre autres egalement supplementaire davantage en_plus de_plus
tambien otro otra otros otras ademas adicional igualmente aun todavia
tambem outro outra outros outras alem adicional igualmente ainda
anche altro altra altri altre inoltre pure ancora ulteriore aggiuntivo
tambe altre altra altres
ook nog ander andere anderen eveneens bovendien extra weer
ocksa även annan annat andra ytterligare dessutom igen
ogsa også anden andet andre desuden endnu ogsaa igen annen annet
myös toinen toisen lisäksi vielä muu muita edelleen
 teine lisaks muu
 szintén másik további még más
też także również inny inna inne innego innej inną kolejny kolejna kolejne kolejnego kolejną jeszcze dodatkowo
také též jiný jiná další ještě navíc rovněž iný iná ďalší ešte tiež aj
tudi drug druga drugo še dodatno također takođe drugi još dodatni ostali
тоже также ещё еще другой другая другое другие другую другого другому другим других к_тому_же вдобавок дополнительно кроме снова иной
теж також ще інший інша інше інші іншу іншого іншої іншим додатково крім
също още друг друга други допълнително такође још друго
επίσης ακόμα ακόμη άλλος άλλη άλλο επιπλέον
și_alt alt alta alți altă încă deasemenea asemenea suplimentar
 ayrıca başka daha diğer yine
taip_pat kitas kita papildomai arī vēl cits cita papildus
أيضا ايضا كذلك آخر أخرى إضافي نیز همچنین دیگر بھی دوسرا اور
גם עוד אחר אחרת נוסף נוספת
भी और दूसरा अन्य अतिरिक्त পাশাপাশি আরও আরেক
juga lagi lain lainnya tambahan cũng khác mwingine 
也 还 還 另 另外 又 其他 再 も また 別 他 さらに 도 또 또한 다른 역시 ด้วย อีก อื่น
ere beste freisin eile hefyd arall
`;

/**
 * Groups of contraries between "|": directions, comparisons, kin. Words by "/" are equal. A group that begins
 * with "~" counts only where both statements have one of its words.
 */
export const contrasts = `
left/~links/linke/linken/linker/linkes/linkerhand/gauche/izquierdo/izquierda/esquerdo/esquerda/sinistro/sinistra/vanster/venstre/vasen/vasemmassa/~bal/lewy/lewa/lewe/lewego/lewej/lewym/~levy/leva/levo/leve/leveho/levem/levou/levym/левый/левая/левое/левые/левого/левой/левую/левому/левом/левым/левых/левыми/слева/лівий/ліва/ліве/лівого/лівої/лівій/ліву/лівому/лівим/лівою/зліва/αριστερός/αριστερή/αριστερό/~sol/أيسر/يسار/שמאל/बायां/बाएं/kiri/trái/左/왼쪽/ซ้าย right/rechts/rechte/rechten/rechter/rechtes/~droit/droite/derecho/derecha/direito/direita/destro/destra/hoger/hoyre/hojre/oikea/oikeassa/jobb/prawy/prawa/prawe/prawego/prawej/prawym/pravy/prava/pravo/prave/praveho/pravem/pravou/pravym/desni/правый/правая/правое/правые/правого/правой/правую/правому/правом/правым/правых/правыми/справа/правий/права/праве/правого/правої/правій/праву/правому/правим/правою/δεξιός/δεξιά/δεξί/~sag/أيمن/يمين/ימין/दायां/दाएं/kanan/phải/右/오른쪽/ขวา
| north/northern/norden/nord/nordlich*/norte/noord/noorden/norr/pohjoinen/polnoc/sever/север*/північ*/βόρεια/kuzey/شمال/צפון/उत्तर/utara/bắc/北/북쪽 south/southern/suden/sud/sudlich*/~sur/~sul/zuid/zuiden/soder/syd/etela/poludnie/jih/юг/юга/югу/югом/юге/южн*/південь/півдн*/півден*/νότια/güney/جنوب/דרום/दक्षिण/selatan/~nam/南/남쪽 east/eastern/osten/ost/ostlich*/~este/oost/oosten/oster/~ita/wschod/vychod/восток*/восточн*/схід/сход*/східн*/ανατολικά/doğu/شرق/מזרח/पूर्व/timur/đông/东/東/동쪽 west/western/westen/westlich*/ouest/oeste/ovest/vaster/~vest/lansi/zachod/zapad/запад*/захід/заход*/західн*/δυτικά/batı/غرب/מערב/पश्चिम/barat/tây/西/서쪽
| more/mehr/meer/~plus/~mas/~mais/~piu/~mer/mere/enemman/tobb/wiecej/vice/viac/vise/больше/більше/περισσότερο/daha_fazla/أكثر/יותר/अधिक/lebih/hơn/更多/더 less/fewer/weniger/minder/moins/menos/meno/mindre/farre/vahemman/kevesebb/mniej/mene/menej/manje/меньше/менше/λιγότερο/daha_az/أقل/פחות/कम/kurang/ít_hơn/更少/덜
| most/meiste/meisten/meest/plupart/mayoria/maioria/maggior/flest/eniten least/wenigsten/minst
| ~ before/vor/bevor/voor/avant/antes/prima_di/fore/innan/før/for/ennen/elott/przed/pred/prije/до/перед/πριν/önce/قبل/לפני/पहले/sebelum/trước/之前/以前/前に/전에/ก่อน after/nach/nachdem/na/apres/despues/depois/dopo/efter/etter/jalkeen/utan/po/после/після/след/μετά/sonra/بعد/אחרי/बाद/setelah/sesudah/~sau/之后/以后/後に/후에/หลัง until/till/bis/~tot/jusqu'a/hasta/ate/fino/tills/indtil/asti/kunnes/ig/do/до_тех/μέχρι/kadar/حتى/עד/तक/sampai/đến/直到/まで/까지 since/seit/sinds/depuis/desde/dal/sedan/siden/lahtien/ota/od/с_тех/από_τότε/beri/منذ/מאז/से/sejak/从
| ~ over/above/uber/boven/dessus/encima/acima/sopra/over/yli/felett/powyzej/nad/над/выше/πάνω/üstünde/فوق/מעל/ऊपर/di_atas/trên/以上/上/위 under/below/beneath/unter/onder/dessous/debajo/abaixo/sotto/under/alle/alatt/ponizej/pod/под/ниже/κάτω/altında/تحت/מתחת/नीचे/di_bawah/dưới/以下/下/아래
| minimum/mindestens/minstens/at_least/au_moins/al_menos/almeno/pelo_menos maximum/hochstens/maximal/at_most/au_plus/como_mucho/al_massimo
| ~ to/into/nach/zu/naar/vers/hacia/hasta/para/verso/till/til/в/на/к/до/προς/إلى/אל from/von/aus/van/uit/desde/dari/fra/fran/из/от/с/από/من/מ
| ~ in/inside/drinnen/binnen/dedans/dentro/inne/inside out/outside/draussen/buiten/dehors/fuera/fora/fuori/ute
| ~ up/hinauf/omhoog/arriba/su/upp down/hinunter/omlaag/abajo/giu/ned
| increase/increased/increasing/raise/raised/gain/gained/~grow/erhoht/steigt/gestiegen/augmente/aumenta/aumento/zunimmt/увеличил*/вырос*/zwieksza/zwiekszyl/zwiekszyla/artti/artirdi/arttirdi/aumentou decrease/decreased/decreasing/reduce/reduced/~lower/lowered/lose/lost/verringert/sinkt/gesunken/diminue/disminuye/diminuisce/уменьшил*/снизил*/zmniejsza/zmniejszyl/zmniejszyla/azaldi/azaltti/diminuiu
| start/starts/started/begin/begins/began/join/joined/beginnt/begann/commence/empieza/inizia/comeca/начал*/начина*/zaczal/zaczela/zaczyna/rozpoczal/rozpoczela/basladi/basliyor/basla* stop/stops/stopped/quit/quits/quitting/~end/~ends/ended/~leave/~leaves/left_off/hort/aufgehort/arrete/deja/smette/para_de/бросил*/перестал*/заканчива*/закончил*/przestal/przestala/przestaje/rzucil/rzucila/rzuca/birakti/birakiyor/biraktig*
| buy/buys/bought/kauft/kaufte/achete/compra/compro/купил*/покупа*/kupil/kupila/kupuje/kupi/satin_aldi/satin_aliyor/comprou/comprato/acquista/koopt/kocht sell/sells/sold/verkauft/verkaufte/vend/vende/vendio/прода*/sprzedal/sprzedala/sprzedaje/sprzeda/satti/satiyor/vendeu/vendu/venduto/verkoopt/verkocht/saljer/salde
| love/loves/loved/~like/~likes/~liked/enjoy/enjoys/liebt/~mag/aime/ama/gusta/adora/любит/lubi/kocha/uwielbia/~sever/seviyor/sevdigi/~houdt hate/hates/hated/dislike/dislikes/disliked/detest/detests/loathe/loathes/hasst/deteste/odia/odeia/ненавидит/nienawidzi/nie_znosi/nie_cierpi/nefret_eder/nefret_ediyor/nefret_ettig*/sevmez/sevmiyor/haat/hatar
| ~open/opens/opened/offen/geoffnet/ouvert/abierto/aberto/aperto/открыт*/otwarty/otwarta/otwarte/acik closed/~close/shut/geschlossen/ferme/cerrado/fechado/chiuso/закрыт*/zamkniety/zamknieta/zamkniete/kapali
| hot/heiss/chaud/caliente/quente/caldo/горяч*/goracy/goraca/gorace/sicak cold/kalt/froid/frio/freddo/холодн*/zimny/zimna/zimne/soguk warm
| ~big/bigger/large/larger/gross/grosser/~grand/grande/больш*/duzy/duza/duze/wiekszy/buyuk small/smaller/~little/klein/kleiner/petit/petite/pequeno/pequena/piccolo/маленьк*/maly/~mala/~male/mniejszy/kucuk
| high/higher/hoch/hohe/haut/~alto/~alta/высок* low/~lower/niedrig/~bas/bajo/~baixo/basso/низк*
| ~old/older/elder/~alt/altere/alterer/aine/mayor/старш* young/younger/jung/jungere/jungerer/cadet/menor/младш*
| early/earlier/fruh/fruher/~tot/temprano/cedo/presto/рано ~late/later/spat/spater/tard/tarde/tardi/поздно
| ~this/diese/dieser/dieses/diesen/cette/este/esta/questo/questa/deze/этот/эта/этом ~last/letzte/letzten/letzter/dernier/derniere/ultimo/ultima/последн* next/nachste/nachsten/nachster/prochain/prochaine/proximo/proxima/prossimo/следующ* previous/vorige/vorherige/precedent/anterior/предыдущ*
| fast/faster/schnell/rapide/rapido/быстр*/szybki/szybka/szybko/hizli slow/slower/langsam/lent/lento/медленн*/wolny/~wolno/powolny/yavas
| rich/reich/riche/rico poor/~arm/pauvre/pobre
| public/offentlich/publico private/privat/prive/privado
| full-time/vollzeit part-time/teilzeit
| always/immer/toujours/siempre/sempre/всегда/always/altijd/alltid/zawsze/her_zaman/~hep/daima sometimes/manchmal/parfois/veces/volte/иногда/soms/ibland/czasem/czasami/niekiedy/bazen/ara_sira often/oft/souvent/menudo/spesso/часто/vaak/ofta/czesto/sik_sik/siklikla rarely/seldom/selten/rarement/raramente/редко/zelden/sallan/rzadko/nadiren/seyrek usually/meistens
| daily/taglich/quotidien/diario/diariamente/codziennie/dagelijks/her_gun/gunluk/dagligen weekly/wochentlich/hebdomadaire/semanal/cotygodniowo/wekelijks/haftalik/her_hafta/co_tydzien monthly/monatlich/mensuel/mensual/miesiecznie/maandelijks/aylik/her_ay/co_miesiac yearly/annually/jahrlich/annuel/anual
| morning/mornings/morgens/vormittag/matin/manana/manha/mattina/ochtend/utro/утром/утра/rano/rankiem/porankami/sabah/sabahlari/sabahleyin afternoon/afternoons/nachmittag/apres-midi/tarde/pomeriggio/middag/днем/popoludniu/popoludniami/ogleden_sonra/ogleden_sonralari evening/evenings/abend/abends/soir/sera/avond/вечером/вечера/wieczorem/wieczorami/wieczor/aksam/aksamlari/aksamleyin night/nights/nacht/nachts/nuit/noche/noite/notte/ночью/ночи/noca/nocami/gece/geceleri/geceleyin noon/mittag/midi/mediodia midnight/mitternacht/minuit
| today/heute/aujourd'hui/hoy/hoje/oggi/vandaag/idag/сегодня/今天/今日/오늘/dzisiaj/dzis/bugun yesterday/gestern/~hier/ayer/ontem/ieri/gisteren/igar/вчера/昨天/昨日/어제/wczoraj/~dun tomorrow/~morgen/demain/manana/amanha/domani/imorgon/завтра/明天/明日/내일/jutro/yarin
| ~spring/fruhling/fruhjahr/printemps/primavera/lente/весна/весной/春/wiosna/wiosny/ilkbahar/ilkbaharda/bahar/baharda summer/sommer/ete/verano/verao/estate/zomer/лето/летом/夏/~lato/latem/yaz/yazin autumn/~fall/herbst/automne/otono/outono/autunno/herfst/осень/осенью/秋/jesien/jesienia/sonbahar/sonbaharda/guz winter/hiver/invierno/inverno/зима/зимой/冬/zima/~kis/kisin
| mother/mom/mum/mutter/mere/madre/mae/moeder/~mor/aiti/matka/мать/матери/матерью/мама/мамы/маме/маму/мамой/母/母亲/어머니/annesi*/annem*/matki/matke/mame/mama father/dad/vater/pere/padre/pai/vader/~far/~isa/ojciec/отец/отца/отцу/отцом/отце/папа/папы/папе/папу/папой/父/父亲/아버지/babasi*/babam*/ojca/ojcu/~tata/taty brother/brothers/bruder/frere/hermano/irmao/fratello/broer/bror/veli/brat/брат/брата/брату/братом/брате/братья/братьями/兄弟/哥哥/弟弟/형/abisi*/abim*/agabey*/brata/bratu/bratem/bracia sister/sisters/schwester/soeur/hermana/irma/sorella/zus/syster/soster/sisko/siostra/сестр*/сестер/姐姐/妹妹/ablasi*/ablam*/siostry/siostrze/siostre son/sons/sohn/fils/hijo/filho/figlio/zoon/poika/syn/сын/сына/сыну/сыном/сыне/сыновья/儿子/아들/oglu/oglum/oglunu/oglunun/ogullar*/syna/synowi/synem/synowie daughter/daughters/tochter/fille/hija/filha/figlia/dochter/datter/tytar/corka/дочь/дочер*/女儿/딸/kizi/kizim/kizinin/kizlari/corki/corke/corce wife/ehefrau/femme/esposa/moglie/vrouw/fru/vaimo/zona/жена/жены/жене/жену/женой/妻子/아내/karisi*/zony/zone/zonie husband/ehemann/mari/esposo/marido/marito/~man/mies/maz/муж/мужа/мужу/мужем/муже/丈夫/남편/kocasi*/~meza/mezem/mezowi uncle/onkel/oncle/tio/zio/дядя/дяди/дяде/дядю/дядей/dayisi*/dayim/amcasi*/amcam/wujek/wujka/wujkowi/wuj/stryj*/strycek/stryc aunt/tante/tia/zia/тетя/тети/тете/тетю/тетей/teyzesi*/teyzem/halasi*/ciotk*/ciocia/cioci/~teta grandmother/grandma/oma/grossmutter/grand-mere/abuela/nonna/бабушк*/babci*/babcia/anneannesi*/babaannesi*/ninesi*/babicka/babika grandfather/grandpa/opa/grossvater/grand-pere/abuelo/nonno/дедушк*/dziadek/dziadka/dziadkiem/dziadkowi/dedesi*/dedem/dedecek nephew/nephews/neffe/neffen/neveu/neveux/sobrino/sobrinho/~neef/nevo/siostrzeniec/bratanek/племянник* niece/nieces/nichte/nichten/sobrina/sobrinha/siostrzenica/bratanica/племянниц* cousin/cousins/vetter/~primo/~primos cousine/cousinen/~prima grandson/~enkel/petit-fils/nieto/~neto/kleinzoon/wnuk/wnuka/внук*/孙子 granddaughter/enkelin/petite-fille/nieta/~neta/kleindochter/wnuczk*/внучк*/孙女 mother-in-law/schwiegermutter/belle-mere/suegra/sogra/suocera/schoonmoeder/svarmor/tesciow*/kayinvalide*/кайнана/теща/тещи/свекров* father-in-law/schwiegervater/beau-pere/suegro/sogro/suocero/schoonvader/svarfar/tesc/tescia/kayinpeder*/тесть/свекор brother-in-law/schwager/beau-frere/cunado/cunhado/cognato/zwager/svager/szwagier sister-in-law/schwagerin/belle-soeur/cunada/cunhada/cognata/schoonzus/svagerska/szwagierka stepmother/stiefmutter/madrastra/madrasta/matrigna/macocha stepfather/stiefvater/padrastro/padrasto/patrigno/ojczym
| married/verheiratet/marie/casado/casada/sposato/sposata/женат/замужем/zonaty/zamezna/mezatka/evli/~gift/gehuwd/getrouwd single/unmarried/ledig/celibataire/soltero/soltera/kawaler/~panna/singiel/singielka/bekar/ugift/ongehuwd divorced/geschieden/divorce/divorciado/divorciada/разведен*/rozwiedziony/rozwiedziona/rozwodnik/bosanmis/gescheiden widowed/verwitwet/veuf/veuve/viudo engaged/verlobt
| black/schwarz/noir/noire/negro/negra/preto/nero/zwart/svart/черн*/黑 white/weiss/blanc/blanche/blanco/blanca/branco/bianco/wit/vit/hvid/бел*/白 ~red/~rot/rouge/rojo/roja/vermelho/rosso/rood/rod/красн*/红/赤 green/grun/vert/verte/verde/groen/gron/зелен*/绿/緑 blue/blau/bleu/bleue/azul/blu/blauw/bla/син*/蓝/青 yellow/gelb/jaune/amarillo/amarelo/giallo/geel/gul/желт*/黄 brown/braun/~brun/marron/коричнев* grey/gray/grau/gris/серый/серая orange pink/rosa purple/lila/violet
| only/nur/seulement/solo/solamente/soltanto/alleen/bara/vain/tylko/только/лише/μόνο/sadece/فقط/רק/केवल/hanya/chỉ/只/仅/だけ/만/yalnizca/yalniz
| former/formerly/used_to/dejo_de/solia/soliamos/ha_smesso/aveva_smesso/a_cesse/раньше/прежде/когда-то/eskiden/vroeger/tidigare/kiedys/以前/曾经/曾經/曾/かつて/예전/كان/كانت/كنت/ehemalige*/ancien/antiguo/antigua/ex/voormalig*/бывш*/previously/fruhere/dawniej/byly/byla/dawny/eski current/currently/derzeit/aktuell/actuel/actual/actualmente/huidig*/нынешн*/obecnie/aktualnie/aktualny/obecny/halen/su_anki/suanda
| might/could/maybe/perhaps/possibly/vielleicht/peut-etre/quizas/talvez/forse/misschien/kanske/может_быть/возможно/~moze/byc_moze/belki
| ~ tall/taller short/shorter
| weekday/weekdays/workday/workdays/wochentag/wochentags/werktags/werktag/weekdagen/vardag/vardagar/будни/будням/будний weekend/weekends/wochenende/wochenenden/week-end/helg/helger/выходные/выходным/周末/週末/주말
| ~ ground/erdgeschoss top/obergeschoss bottom basement/keller
| ~ few/several/einige/quelques/plusieurs/algunos/varios/alcuni/несколько/kilka/kilku/birkac many/viele/beaucoup/muchos/molti/много/wiele/wielu/cok_sayida
| ~ against/anti/gegen/contre/contra/contro/против for/pro/fur/pour/para/por/per/за
| ~ positive/positiv/positif/positivo/positiva/положительн* negative/negativ/negatif/negativo/negativa/отрицательн*
| ~ on/an/ein off/aus
| enable/enables/enabled/aktiviert/activado/включил*/wlacza/wlaczyl/wlaczyla/acti disable/disables/disabled/deaktiviert/desactivado/выключил*/wylacza/wylaczyl/wylaczyla
| ~ dark/dunkel/dunkles/dunklen/sombre/oscuro/escuro/scuro/темн* light/bright/hell/helles/hellen/clair/claro/chiaro/светл*
| accept/accepts/accepted/akzeptiert/angenommen/принял* reject/rejects/rejected/decline/declines/declined/abgelehnt/отклонил*
| ~ pass/passes/passed/bestanden fail/fails/failed/durchgefallen
| ~ win/wins/won/gewonnen lose/loses/lost/verloren
| metric/metrisch imperial
| ~ short/shorter/kurz/kurze/kurzen/court/courte/corto/corta/curto/curta/breve/коротк* long/longer/lang/lange/langen/long/longue/largo/larga/longo/longa/lungo/lunga/длинн*
| ~ man/men/mann/manner/homme/hombre/homem/uomo/мужчин* woman/women/frau/frauen/femme/mujer/mulher/donna/женщин*
| ~ he/him/his she/her/hers they/them/theirs
| ~ boyfriend/freund/novio/namorado/ragazzo girlfriend/freundin/novia/namorada/ragazza
| ~ is/are/am/has/have/does/do/ist/sind/hat/haben/est/sont/es/son/tiene/tem/ha/heeft/ar/har/er was/were/had/did/war/waren/hatte/hatten/etait/etaient/avait/era/eran/fue/tenia/tinha/foi/aveva/had/var/hade/havde/var will/would/shall/~may/might/could/wird/wurde/sera/serait
| plan/plans/planned/planning/intend/intends/intending/hope/hopes/hoping/want/wants/wanted/consider/considers/considering/aims/plant/mochte/veut/quiere/quer/vuole/wil/хочет/собирается/想/打算
| ~ in from/since during after until/till
| ~ to past
| left-handed/linkshander/linkshanderin/linkshandig/gaucher/gauchere/zurdo/zurda/canhoto/canhota/mancino/mancina/leworeczny/leworeczna/solak/левша/左利き/左撇子/왼손잡이 right-handed/rechtshander/rechtshanderin/rechtshandig/droitier/droitiere/diestro/diestra/destrimano/destrimana/praworeczny/praworeczna/saglak/правша/右利き/右撇子/오른손잡이
| borrow/borrows/borrowed/leiht_sich/lieh_sich/emprunte/emprunta/pozyczyl_od/pozyczyla_od/pozycza_od lend/lends/lent/verleiht/verlieh/~prete/~preta/pozyczyl/pozyczyla/pozycza
| almost/nearly/hardly/barely/beinahe/kaum/presque/casi/quase/~quasi/bijna/nastan/prawie/skoro/temer/почти/едва/майже/neredeyse/تقريبا/几乎/差点/ほぼ
| deceased/verstorben*/defunt/defunte/feu_son/feu_sa/difunto/difunta/falecido/falecida/defunto/defunta/overleden/zmarly/zmarla/покойн*/rahmetli/المرحوم/已故/故人
`;
