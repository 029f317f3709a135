"""Names of people by their form: the words that may be one, their order, and people where a letter names them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from clinical.letters.labels import label_of

_PARTICLES = (
    "von van de der den zu zur zum dos da di del della dal la le al el ten ter vom und i y af freiherr freifrau freiin"
)
_NOT_A_NAME = """
herr herrn frau patient patientin patienten kollege kollegin kollegen kolleginnen klinik spital krankenhaus praxis
sehr geehrte geehrter diagnose diagnosen arztbrief befund bericht abteilung station datum adresse name vorname telefon
fax strasse straße str januar februar märz april mai juni juli august september oktober november dezember wir ich sie
der die das dem den ein eine bei nach vor aus seit zur zum am im in mit und oder für ihr ihre ihren unser unsere
versicherte versicherter betreff betrifft damen herren universitätsklinik zuweisung überweisung einweisung anmeldung
ambulanz zentrum institut sekretariat notfall aufnahme entlassung eintritt austritt verlauf anamnese therapie labor
facharzt fachärztin arzt ärztin oberarzt oberärztin chefarzt chefärztin assistenzarzt assistenzärztin stationsarzt
stationsärztin primarin hausarzt hausärztin med dr prof univ ltd leitender leitende urologe neurologe kardiologe
chirurg internist telefonisch mutter vater sohn tochter ehemann ehefrau bruder schwester dieser diese dieses dass
geboren geb wohnhaft pat stationär stationäre ambulant ambulante behandlung untersuchung kontrolle medikation
allgemein privat halbprivat fmh nr nummer garant di dipl ing mag lic
klient klientin baby kind bub mädchen säugling knabe bewohner bewohnerin hr fr hrn id patid oberstudienrat studienrat
uhr ankunft verlassen tel mobil kontakt druckdatum fallnummer patientenetikett
unterschrift stempel eilt eilig dringend termin gruss grüsse grüße liebe lieber guten tag hallo
geschlecht unfall gmbh ag aktuell aktuelle frage
fragestellung versicherung krankenkasse kasse betr vornamen
ihnen jungen knaben pat.in mri mrt ct nativ knie links rechts
"""
_FIRST_NAMES = """
aaliyah aaron abbas abdullah abeba abel abigail achim ada adalbert adam adele adelheid adelina adem adisu adnan adolf
adrian adriana adriano afra agata agathe agim agnes ahmed aida aische ajda ajla akim akua alaia alain alba alban albana
albert alberto albina albrecht alda aldina aldo alec alejandro aleksandar aleksandra alena alessandra alessandro alessio
alev alex alexa alexander alexandra alexandre alexej alfons alfonso alfred ali alice alija alina alisa alisha alissa
alma alois aloisia altin alva alwin alya amadeus amadou amanda amar amber ambros amelie amina amir amira amra amélie ana
anabel anastasia anastasija anatol anaïs andjela andrea andreas andrej andrew andri andrijana andrin andré anela anetta
angela angelika angelina angelo anica anika anikó anisa anita anja anke anna annabelle anne annegret anneke annelies
anneliese annelore annemarie annemie annette anni annika anouk ansgar antje antoine anton antonella antonia antonio
aoife apollonia apostolos aram arben ardita argyro arian ariana ariane arif arlette armando armin arnd arne arno arnold
arnulf aroha arta artan arthur arton artur arzu asim asiye aslan aslı asma asmara assunta astrid athanasios atif atilla
august augustin aurel aurelia aurelie aurora ava awa axel ayaan ayla aylin ayodele ayse ayşe aziz azra babak babette
bahar bahram balthasar baptist baraka baran barbara bartholomäus bashar bashkim bastian batoul bea beat beate beatrice
beatrix behrouz belinda bella ben benedetta benedikt bengt benita benjamin benno bente beppo berat beritan bernadett
bernadette bernarda bernardo bernd bernhard berta bertha berthold berti beryl besim besnik bettina bettine bianca bilal
binh birgit birgül birte bjarne björn blagoje blanka blerim blerta bogdan bogna bojan bojana bora boran boris borislav
božena branislav branka branko brendan brian brigit brigitta brigitte britta bronislaw bruna bruno burak burcu burim
burkhard camilla can canan carina carine carla carlo carlos carlotta carmelo carmen carmine carola carolin carolina
caroline caspar caterina catherine cathérine cecilia cedric celal celia celina celine cem cemal ceyda chandra chantal
charlotte chiamaka chiara chidi chinedu christa christel christian christiana christiane christina christine christl
christof christoph ciara cihan cinzia clara clarissa claude claudia claudine claudio claudius claus clea clelia clemens
colette colin concetta conny constantin constanze corin corina corine corinna corinne cornelia cornelius corsin cosima
cristian cristiano cristina curdin cyril cyrill cäcilia cécile cédric céline dafina dagmar daisy dalia dalila damian
damiano damir dana danica daniel daniela danijel danijela danilo danuta daria dario darius darko daud david davide dawit
dean debora deborah deepak defne dejan delia demian denis denise deniz derya desanka desirée despina desta destan detlef
detlev devrim diallo diana diego dieter dietlinde dietmar dilan dilara dimitar dimitri dimitrios dina dino dirk djamila
djordje dolores domenica domenico dominic dominik dominique donat donata donato donka dora dorina doris dorit dorota
dorothea dorothee dorothé dragan dragica drita dubravka duc dung duri durmuş dušan dzenana džemal ebba eberhard ebru ece
ecem eda edda edelbert edelgard edeltraud edeltraut edgar edin edina edis edith edmund edona eduard efe egbert eglantine
egon egzon ehrentraud ehsan eike eileen einar eirini ekaterina ekkehard ela elanur eleftheria elena eleni eleonora
eleonore elfi elfriede elham elia eliane elias elif eligius elin elina elio elira elisa elisabeth elise elisha eliska
elke ella ellen ellinor elma elmar elmira elsa elsbet elsbeth elvin elvira elvis emanuel emanuela emeka emel emil emilia
emilie emilio emin emina emine emir emirhan emma emmerich emre ender enes engelbert enis enrica enrico enver enzo erdal
erdem erdmute eren erhan erhard eric erich erika eritrea erkan erna ernestine ernst erol ersin ertan erwin erwina esin
esma esmeralda esra esteban estefania estela estelle ester esther eszter etienne eugen eugenie euphemia eva evangelos
evelina eveline evelyn evgeni evi ewa ewald ezgi fabian fabiana fabienne fabio fabiola fabrice fabrizio fadi fadil
fadime fahri fanny farah fariba farid faruk farzad fatih fatima fatime fatma fatmir fatou faustina federica federico
fehmi fekadu felicia felicitas feliks felix felizitas femi fenja ferdi ferdinand ferenc fereshte ferhat fernanda
fernando fethi fidelis fikirte fikret filip filippa filippo finn fiona fiorella firat fitim fjodor flamur flavia flavian
flavio fleur flora florence florentin florentina florian florije florin flurin flurina folke franca francesca francesco
franco frank franz franziska françois françoise freddy frederic frederik freya fridolin fridtjof frieda friedegund
frieder friederike friedhelm friedlinde friedrich frithjof fritz fritzi frodo fränzi fynn gabor gabriel gabriela
gabriele gaby gaetano gajendra galina gazmend gebhard gebre geert gemma genc genet geneviève genoveva geoffrey georg
georges georgette georgia georgios gerald gerd gerda gerhard geri gerlinde germaine gernot gero gerold gerrit gertrud
gertrude gervais gesa gesche gesine ghassan ghazal ghislaine giacomo giada gian giancarlo giang gianluca gianna gianni
gilbert gilberte gilles ginette gino gioia giorgia giorgio giorgos giovanni girma gisbert gisela gitta gitte giulia
giuliana giuliano giuseppe giuseppina gizem gjergj gjon godfrey goran gordana gordon gottfried gottlieb grazia graziella
grazyna grażyna greg gregor greta gretel grzegorz gualtiero gudrun guido guillaume gulnara gunda gunnar gunther guntram
gustav gustl götz gülay gülcan gülsen gülten günay günter günther gürkan habib hadi hagos haile hakan haki halil halime
halina hamid hamza hana hanan hang hanife hanka hanna hannah hanne hannelies hannelore hannerose hannes hans hansjörg
hanspeter hansruedi harald hari hartmut hartwig haruka harun hasan hashim hassan hatem hatice hatidza hauke havva hayat
hedda hedi hedwig hedy heidemarie heiderose heidi heidrun heike heiko heiner heini heinke heino heinrich heinrike
heintje heinz hekuran helen helena helene helga helin hella helmine helmut helmuth henner henning henny henri henrieta
henriette henrik henrike herbert hergard heribert herlinde hermann hermi hermien hermina hermine herta hilal hilda
hildburg hilde hildegard hildtrud hilmar hiltraud hiltrud hina hinrich hiroshi hoa holda holger hong horst hossein
hrvoje hubert huda hugo hung huong husein hussein hyacinth hülya hüseyin ian ibolya ibrahim ida idil idris idriz ifeoma
ignacio ignatius ignaz igor iker ilaria ildikó ilhan ilian ilir ilja ilka ilona ilse iman imani imelda imke immanuel
imre ina indira indrit ines inga inge ingeborg ingo ingolf ingrid inken inna ioana ioannis iolanda ionel irena irene
irfan irina irini iris irma irmela irmgard irmhild isa isaak isabel isabela isabell isabella isabelle isam isidor ismail
ismet isolde isra istván iulia ivan ivana ivanka ivica ivka ivo iwan iwona izabela jaan jacek jacob jacqueline jadwiga
jagoda jaime jakob jakub jala jamal james jamila jan jana janek janet janin janina janine janis janko janne jannes
jannick jannik janosch jaqueline jarmila jaro jaroslav jasmin jasmina jasmine jasna jason jaspal jasper javier jawad
jayden jean jeanette jeanine jeanne jeannette jelena jelka jelle jennifer jenny jens jeremias jeremy jerzy jesko jesper
jessica jesus jetmir jette jirka joachim joana joanna joao joaquim jochen joel joerg joey johann johanna johanne
johannes john jolana jolanda jolande jolanta jolanthe jolie jon jonas jonathan jordan jorge jorina jorinde jorma joschka
josef josefa josefine joseph josephine josip jost josua josy josé jovan jovana jovica joy joyce jozef jozo joël joëlle
juan juana judith jukka jule julia julian juliane julie juliette julika julius juna jurek juri justin justus justyna
jutka jutta jérôme jörg jörn jürg jürgen kaan kadir kai kaja kaltrina kamal kamala kamil kamila karan karel karen karim
karima karin karl karla karlheinz karlo karolina karoline kasia kasimir kaspar kastriot kata katalin katarina katarzyna
kateryna katharina kathi kathleen kathrin kathy katia katinka katja kato katrin katrina kaveh kaya kazim kebede keiko
kelly kemal kenan kenji kenneth keno kerem kerstin kevin khadija khadra khaled khalil khanh kidane kilian kim kimberly
kira kiran kirill kirsten kjell kjersti klara klaus klemens knud knut kofi kojo konrad konstantin konstantina
konstantinos konstanze korbinian kordula kornelia kosta kostas krenar kreshnik kreszenz krešimir kriemhild kristian
kristijan kristin kristina kristof krystyna krzysztof kujtim kumar kunigunde kurt kurtis kushtrim kwame ladina ladislaus
ladislav laila laith lali lam lambert lan lana lando lara larissa lars lasse laszlo latifa laura laurenz laurin layal
layla lazar lea leander leberecht leif leila lejla lelia len lena leni lenka lennard lennart lennox lenz leo leokadia
leokadija leon leonardo leonhard leonid leonie leonora leontine leopold leopoldine leroy leszek leyla lia liam liana
liane liborius lidia lidija liesbeth liesel lieselott lieselotte lilian liliana liliane lilija lilli lily lina linda
lindita linh linn lino linus lionel liridon lirim lisa lisanne lisbeth liselotte lisette liu liv livia livio liya
ljiljana ljubica ljubomir loan logan lola long loredana lorena lorenz lorenzo lorin loris lothar lotte lotti louis
louisa louise lova lovis luan luana luc luca lucas lucia lucian luciana luciano lucie lucien lucija ludmila ludmilla
ludwig luigi luis luisa luise luisella luka lukas lul lumturije luna lutz luzia luzius lydia lydie lynn maarten mabel
maddalena madeleine madlaina mads mae magali magda magdalena magnus mahdi mahmoud mahmut mahsa mai maia maija maik maike
maila maja makeda maksim malaika malak malena malgorzata malin malte manda mandy manfred manfredo mani manjit manola
manolis manon manuel manuela mara marc marcel marcela marcella marcello marcelo marcin marco marcus marduk mareen
mareike marek maren margareta margarete margaretha margarethe margarita margaux margherita margit margot margret margrit
margrith marguerite maria mariam mariana mariangela marianne mariano maribel maricel marie mariella marielle marietta
mariette marija marijan marijana marika marina marinko marinus mario marion marisa marisol marit marita marius marjan
marjana marko markus markéta marla marleen marlene marlies marlis marlon marta marten martha marthe martin martina
martine martino marvin marwa marwin mary maryam marzena masoud massimo mateo mateusz mathias mathieu mathilde mathis
mathéo matilda matilde mats mattea matteo matthias matthäus matti mattia maura maurice maurizio maurus max maxim maxime
maximilian maximiliane maya mayra małgorzata mechthild mechtild medina medine mehdi mehmed mehmet mehrdad meike meiling
meinrad mekdes melanie melek melina melisa melissa melitta memet menga mengistu mensur meral mercedes meret meriem
merima merita merle meryem mesut metin mevlüt mia micha michael michaela michail michal michał michel michela michele
micheline michelle mihaela mihai mihret mika mikael mike miklos mikołaj mila milan milena milica miljana milka milo
milos miloš milton mimoza min mina minea minh mino mira mirabela miranda mireille mirela mirella miriam mirjam mirjana
mirka mirko mirna miroslav mirsad mirsada mirza misha mladen modesta mohamad mohamed mohammad mohammed mohan mona monica
monika monique morena morgan moritz morris mosche muhamed muhammad muhammed muhammet muharrem mujo mukaddes mulugeta
murat muriel musa mustafa myriam myrta myrtha mélanie müjgan mürvet nabil nada nadezhda nadia nadija nadim nadine nadiya
nadja naim naima nala nam namik nancy nando naomi narges nasir nasra nasrin natalia natalie natalija natalya natascha
nathalie nathan nathanael nathanaël natnael navid nazan nazli ndeye nea nebojša necla nedim neema nehir nela nelli nelly
nepomuk nermin nermina nesrin neven nevena nga ngan ngoc ngozi nhung niamh nick nico nicola nicolai nicolaj nicolas
nicolaus nicole nicoletta nidal nihal nihat nika niki nikita niklas niklaus niko nikola nikolai nikolaj nikolaos nikolas
nikolaus nikoletta nikolina nils nilufar nima nina nino nives nizar noa noah noam noel noelle noemi nolan noor nora
norah norbert norma norman notburga nour nouri noé noémie noëmi nuno nur nuray nurcan nurettin nurgül nuri nuria nurten
nusret oana obinna octavia oda odette odile oisín olaf ole oleg oleh oleksandr oleksii olena olga olha olimpia oliver
olivera olivia olivier oliwia oluf olumide omar omid ondřej onur oona orhan oriana orietta orla orlando orsina orsola
orsolya ortrud ortwin oscar oskar osman osvald oswald otmar ottavio ottilie ottmar otto ottokar ousmane ove pablo pamela
panagiotis paola paolo parisa parvin pascal pascale pasquale patric patricia patrick patrik patrizia pau paul paula
paulina pauline paulo pavel pavle pawel paweł pedro peer pelin per perihan pero perrine petar peter petra petronella
petros petrus philip philipp philippe phillip philomena phuong pia pierina pierluigi pierre pietro pilar piotr pirmin
pius placi placidus polina pooja predrag primo priska priya przemysław pál qendresa quang quentin quinn quirin quoc
quyen rabea rabia rachel rada rade radmila radomir radoslav radovan rafael rafaela rafał raffaela raffaele rahel rahela
rahim rahman rahul raik raimund raina rainer rainhard raj rajan rajko ralf ralph rama ramadan ramazan ramiz ramize
ramona randi rania raoul raphael raphaela raquel rasim rasmus ratko raul raymond razvan raïssa rebecca rebekka reda reem
refik regina regine regis regula reinhard reinhart reinhild reinhilde reinhold reino rejhan remigius remo rena renan
renate renato reni renzo rené renée resul reta reto rexhep reza ria rian riana ricarda ricardo riccardo richard richarda
rick rico riet rifat rikarda rina risto rita riza robby robert roberta roberto robin rocco rochus rodolfo rodrigo roel
rogelio roger rohan rok roland rolf romain romaine roman romana romed romeo romilda romina romuald romy ron ronald ronan
ronja ronny roque rosa rosalba rosalia rosalina rosalinde rosanna rosario roselinde rosella rosemarie rosemary rosetta
rosi rosina rosita rosmarie rosmarin roswin roswita roswitha rosy rouven roxana roxane rozalia ruba ruben rudi rudolf
ruedi rufus rukhsana rukiye rune rupert ruprecht ruslan ruth ruža ryan régis rüdiger saad sabah sabina sabine sabino
sabri sabrina sadik sadiye saeed safet safiya sahra said saleh salih salim salma salman salome salvador salvatore
samantha sami samia samina samir samira samra samuel samy sander sandra sandrina sandrine sandro sanela sanja sanjay
santino santo sara sarah saranda sasa sascha sasha saskia sava savina saša sead sebahat sebastian sebastiano sebnem seda
sedat sefa seher selam selamawit selami selim selin selina selma selman semhar semih semra sena senad senada senka senta
sepp serafin serafina serap serdar serena serge sergej sergio serhat serhii serkan servet sevda severin sevgi sevil
sevim seweryn seyfi seyma shaban shadi shahin shala shamsa shanti sharon sheila shirin shkelqim shpresa shqipe siad
sibylla sibylle sidonia siegbert siegfried sieghard sieglinde siegmar siegmund siegrid sigisbert sigmar sigmund signe
sigrid sigurd siham silas silja silke silvan silvana silvano silvester silvia silvie silvija silvio simeon simge simon
simona simone simonetta simret sina sinan sinem sinja siobhan siri siro sirpa sissy sita sladjana slaven slavica slavko
slađana slobodan smilja snezana snežana sofia sofie sofija soheila soledad solomon solveig solveigh solvej solvejg son
sonay sondra songül sonia sonja sophia sophie soraia soraya spomenka spyros srdjan stacy stana stanislav stanislava
stanislaw stanko stavros stefan stefania stefanie stefanija stefano steffen stella sten stephan stephanie steven stina
stipe stjepan stojan strahinja suad sultan sumeja suna sundari sunna suresh susan susana susann susanna susanne susi
suzana suzanne svea sven svenja svetlana svetozar swantje sylvain sylvana sylvester sylvette sylvia sylvie szilvia sönke
sören süleyman tabea tabitha tadeusz taha tahir talia tam tamam tamar tamara tamas tamina tamino tammo tamás tanaz tanja
tanya tara tarek tarik tariq tatiana tatjana tayfun taylan tea ted tekle teodor teodora teresa teresia terezija tessa
tewodros thaddäus thais thalia thamar thanh thao thassilo thea thekla theo theodor theodora theodore theodoros theresa
therese theresia thi thiemo thien thierry thies thilo thomas thora thorben thore thorsten thu thuy thyra tia tiago tibor
tigist tihana til tilda tilde till tilly tilman tilo tim timea timo timon timotheus timur tina tino titus tiziana tjark
tobias toby todor tom tomas tomasz tomaž tomislav tommaso toni tonio tonja torben tore torsten toska tove traian trang
traudl traugott traute trine tristan trude trudel trudi trudy trung tsegay tuan tugba tuncay turgut tuyet tuğba tyler
türkan udo ueli ugo ugur ulf uli ulla ulrich ulrika ulrike umberto umut una undine urban urs ursin ursina ursula
ursulina urte usama uschi usman uta ute uwe uğur valborg valentin valentina valentine valentino valentyna valeria
valerie valerij valerio valeriya valmir valon valter valérie van vandana vanessa varvara vasil vasile vasilij vasiliki
vasilios vatroslav vedran veerle velimir venera vera verena verona veronica veronika vesel vesna veton vicente vicky
victor victoria vida vien vigdis viktor viktoria vilma vilmos vincent vincenzo vinh vinko vinzenz viola violetta
virginia virginie vitali vito vittorio vitus viviana viviane vivien vivienne vjollca vladan vladimir vladimira vlado
vlasta vojislav vojtěch volkan volker vreni vroni vuk wafa walburg walburga waldemar walfried walid walter waltraud
waltraut waltraute wanda wanja wanjiru wasil wassili wassilios wei wencke wendel wendelin wenke wenzel werna werner
wibke wiebke wiebken wieland wiesław wiesława wiktoria wilbert wilfried wilfriede wilhelm wilhelmina wilhelmine willi
willy wilma wiltrud winfrid winfried winnie wladimir wladislaw wojciech woldemar wolf wolfgang wolfhard wolfram
wolodymyr włodzimierz xaver xavier xenia xheneta xhevdet ximena xuan yael yakup yan yannick yannik yara yared yasemin
yasin yasmin yasmina yasmine yavuz yaël yehia yener yeter yeşim yilmaz ylenia ylva yohannes yolanda yonas ysabel yuki
yulia yuliya yunus yuri yusra yusuf yves yvette yvonne yıldız zahir zahra zainab zakaria zara zarah zarif zdenka zehra
zejna zeki zelda zeliha zeljko zeno zenon zerrin zewdi zeynep zhen zinaida zineb zita zlatan zlatko zoe zofia zoltán
zora zoran zorica zoé zoë zsuzsanna zsófia zuhal zuhra zuzana zvonimir zvonko zülfiye ägidius änne ömer ömür özcan özden
özge özgür özkan özlem ülkü ümit ürsula şenay şerife şule şükran šime štefan željko
"""
PARTICLES = frozenset(_PARTICLES.split())
SURNAMES_TOO = frozenset("mai märz august arzt kind sohn bruder vetter knabe bub mutter pat baby kasse".split())  # noqa: SIM905
"""Words that are no name, but for a surname before a comma."""
NOT_A_NAME = frozenset(_NOT_A_NAME.split())
FIRST_NAMES = frozenset(_FIRST_NAMES.split())
"""First names of patients in Switzerland, Austria and Germany: they show the order of two names without a comma."""


DECIDED = 0.5
"""Difference of the scores of two words from which one of them counts as the first name."""

_SURNAME_END = re.compile(
    r"(?:mann|berger|inger|hofer|huber|bauer|meie?r|maie?r|maye?r|meye?r|müller|schmidt?|i[cć]|sk[iy]|czyk|wicz|ss?on|"
    r"sen|o[gğ]lu|poulos|idis|akis|enko|stein|feld|bach|hauser|egger|acher|inger|hammer|moser|brunner|dorf|thal|wald|"
    r"kamp|horst|owski|ová|ow|off|escu|quist|gaard|ström|[^aeiouäöü]ler|[^aeiouäöü]ner|bühl|acker|holz|rieder)$"
)
_GIVEN_END = re.compile(
    r"(?:fried|bert|hild|hilde|gard|linde|traud|traut|trud|mut|helm|wig|slav|mir|iana|ette|ina|ela|ika|ella|ila|ita|"
    r"isa|una|ija|ius|ian|lyn|elle|ane|ene)$"
)


def given(word: str) -> float:
    """Score of a word as a first name (above 0) or a surname (below 0)."""
    plain = word.lower().strip(".,")
    parts = plain.split("-")
    known = [part in FIRST_NAMES for part in parts]
    if all(known):
        return 2.0
    if any(known):
        return 1.0 if known[0] else -0.5
    score = -1.5 if len(parts) > 1 else 0.0
    if _SURNAME_END.search(plain):
        score -= 1.0
    return score + 0.6 * (_GIVEN_END.search(plain) is not None)


def surname_first(words: list[str], register: bool) -> bool:
    """True if the surname stands first. `register`: true where lists of people have it first."""
    difference = given(words[-1]) - given(words[0])
    return difference > 0 if abs(difference) >= DECIDED else register


_RANK = (
    r"o\.\s?Univ\.?|Ao\.|Univ\.?\s?-?|Uriv\.-?|Prim\.?(?:aria)?|Prof(?:essor)?(?:in)?\.?|Priv\.?\s?-?\s?Doz\.?|PD|"
    r"P\.D\.|Doz\.?|"
    r"OA|OÄ|CA|CÄ|AA|AÄ|Dr(?:es|s)?\.?a?(?:in)?\.?|Drª|DDr\.?|DDDr\.?|Dr\.in|Mag\.(?:a|ª)|Mag\.?|(?:O?MR|HR)(?=\s(?:Dr|Univ|"
    r"Prof|Prim|DDr|Doz))|Dipl\.?\s?-?\s?(?:Ing|Med|Psych|Ärztin|"
    r"Arzt)?\.?|DI|Ing\.?|"
    r"MUDr\.?|lic\.|Universitätsprofessor(?:in)?|Primar(?:ia|ius|ärztin|arzt)?|Chefarzt|Chefärztin|Oberarzt|"
    r"Oberärztin|"
    r"Assistenz[aä]rzt(?:in)?|Assistenzarzt|Stationsarzt|Stationsärztin|Ltd\.|Leitende[rn]?|LOA|FOÄ|FOA"
)
_DEGREE = (
    r"(?:et|r?rned|med|pract|prakt|univ(?:ers?)?|uni|phil|habil|dent|mult|h\.?\s?c|rer|nat|sc|theol|jur|psych|scient|"
    r"hum|biol|vet)"
    r"\b\.?|\(Univ\.\s?[^()]{2,20}\)"
)
TITLE = re.compile(rf"(?:{_RANK})(?=[\s.A-ZÄÖÜ-]|$)")
_TITLES = re.compile(rf"(?:(?:{_RANK}|{_DEGREE})[\s.,-]*(?![a-zäöüß]))+")
_SALUTED = re.compile(
    r"^(?:(?:Herrn?|Frau|Hrn?|Fr|Hrn?\.?|Fr\.|Sig\.(?:ra)?|Patient(?:in|en)?|Pat\.|Kolleg(?:e|in|en)|Kindes|Kind|"
    r"Ihre?[nrms]?|"
    r"Unsere?[nrms]?|gemeinsame[nrms]?|Versicherte[rn]?|z\.\s?Hd?\.|z\.H\.|an|An)[\s.:]+)+"
)
_CUT = re.compile(
    r"[*(;|\t<]|(?<![^\W\d_])\d|\d(?![^\W\d_])|\bgeb\b|\bgeboren|\bwohnh|,\s*(?:[mwMW]|weibl|männl|weiblich|"
    r"männlich)\b|"
    r"\s[mwMW]\s*$|\s-\s|\s[–—]\s|:"
)


_TITLE_BEHIND = re.compile(rf",\s*(?:(?:{_RANK}|{_DEGREE}|\w{{2,10}}\.?-?\s?[Rr](?:at|ätin))[.ªa]?[\s,.-]*)+$")
"""`Kern Anna, Mag.ª`, `KERN, Anna, Dr. phil.`, `Kern Anna, Reg.Rat`: titles as the last piece."""
_SET_APART = re.compile(r"(?<!\S)[A-ZÄÖÜ](?: [A-ZÄÖÜ]){2,}(?=[\s,]|$)")
"""Surname with its characters set apart: `K E R N ,`."""
_GENERATION = re.compile(r"\s(?:jun|sen|jr|sr|junior|senior)\b\.?", re.IGNORECASE)
_DEGREE_IN_BRACKETS = re.compile(r"\s?\((?:FH|Univ\.?[^)]{0,20}|TU|ETH|FMH)\)")


@dataclass(frozen=True, slots=True)
class Name:
    """Surname and first names; `sure` where the form itself distinguishes them."""

    last: str
    first: str | None
    sure: bool = False


def without_salutation(text: str) -> str:
    """Without `Herrn`, `Frau`, `z. Hd.` at the beginning."""
    return _SALUTED.sub("", text).strip(" ,")


def strip_titles(text: str) -> str:
    """Without salutation, role and academic titles at the beginning."""
    before = None
    text = text.strip(" ,")
    while before != text:
        before = text
        text = _SALUTED.sub("", text).strip(" ,.")
        found = _TITLES.match(text)
        text = text[found.end() :].strip(" ,.") if found and found.end() < len(text) else text
    return text


_SCANNED_IN = re.compile(r"(?<=[^\W\d_])[01](?=[^\W\d_])")
"""Digits that a scan read within a name."""


def _has_symbol(word: str) -> bool:
    """`Knie-TEP`, `MRT-Befund`: a part in capitals beside one that is not is no name's."""
    parts = [part for part in word.split("-") if len(part) > 1]
    return not word.isupper() and any(part.isupper() for part in parts)


def closed_up(text: str) -> str:
    """`K E R N ,  Anna` -> `KERN, Anna`."""
    return _SET_APART.sub(lambda found: found[0].replace(" ", ""), text).replace(" ,", ",")


def is_name_word(word: str) -> bool:
    """A word with a capital that may be part of a name, particles apart."""
    bare = word.strip(",.")
    plain = _SCANNED_IN.sub("l", re.sub(r"[-'’´.]", "", bare))
    return (
        bool(plain)
        and not _has_symbol(bare)
        and len(bare) <= 30
        and bare[0].isupper()
        and plain.isalpha()
        and (len(plain) > 1 or word.endswith("."))
        and bare.lower() not in NOT_A_NAME
        and not _OF_DOCUMENTS.search(bare)
        and (_VOWEL.search(plain) or _INITIALS.fullmatch(bare)) is not None
    )


_VOWEL = re.compile(r"[aeiouyäöüàáâãåæèéêëìíîïòóôõøùúûýıąęœ]|^.$|^[^\W\d_]\.", re.IGNORECASE)
"""Vowel, initial or single character: abbreviations like `MRT` and `LWS` have none."""
_INITIALS = re.compile(r"(?:Th|Ch|Chr|Ph|Rh)(?:\.-[A-ZÄÖÜ])?|[A-ZÄÖÜ]\.-[A-ZÄÖÜ]")
"""First names cut short: `Th.`, `H.-J.`, without their last stop."""
_OF_DOCUMENTS = re.compile(
    r"(?:bericht|brief|befund|überweisung|einweisung|zuweisung|verlegung|anmeldung|anforderung|anfrage|protokoll|"
    r"mitteilung|formular|schreiben|verordnung|konsil|termin|ambulanz|klinik|spital|krankenhaus|abteilung|"
    r"untersuchung|behandlung|versicherung|chirurgie|ologie|iatrie|medizin|pädie|therapie)$",
    re.IGNORECASE,
)
"""Endings of the names of documents, houses and acts: `Kurzbericht`, `Verlegung`."""


def parse_name(text: str, spoken: Collection[str] = (), register: bool = False) -> Name | None:
    """The name that the text is, up to a birth date, a bracket or a number; None for anything else.

    `spoken`: surnames that the letter says behind Frau or Herr. `register`: in forms the surname often stands first.
    """
    head, comma, behind = text.partition(",")
    text = head if comma and label_of(re.split(r"[\s:]", behind.strip())[0]) else text
    text = _GENERATION.sub("", _DEGREE_IN_BRACKETS.sub("", closed_up(text[:140])))
    text = strip_titles(_TITLE_BEHIND.sub("", _CUT.split(text[:120].strip(" ,*-"), maxsplit=1)[0].strip(" ,/")))
    words = text.split()
    if not 1 <= len(words) <= 6 or not all(is_name_word(one) or one.lower() in PARTICLES for one in words[1:]):
        return None
    if not is_name_word(words[0]) and words[0].lower() not in PARTICLES and not _is_listed(words[0]):
        return None
    if text.count(",") == 1 and not text.endswith(","):
        last, first = (part.strip() for part in text.split(","))
        told = last.split()
        if len(told) > 1 and given(told[0]) > 1 and given(first.split()[0] if first else "") <= 0:
            return parse_name(last, spoken, register)  # `Anna Kern, Personalnr.`
        own = " ".join(strip_titles(first).split())
        return Name(last, own or None, True) if last and len(last.split()) <= 4 else None
    if "," in text.strip(","):
        return None
    words = text.strip(",").split()
    if len(words) == 1:
        return Name(words[0], None)
    return _ordered(words, spoken, register)


def _is_listed(word: str) -> bool:
    """`Mai,` before a first name."""
    return word.endswith(",") and word[0].isupper() and word[:-1].lower() in SURNAMES_TOO


_OF_SURNAMES = PARTICLES - {"und", "i", "y", "zum", "zur", "vom"}
"""Particles in lower case that begin a surname behind first names: `Maria dos Santos Pereira`."""


def _ordered(words: list[str], spoken: Collection[str], register: bool) -> Name:
    if sum(word.lower() not in PARTICLES for word in words) < 2:
        return Name(" ".join(words), None)
    first_last, last_first = _split(words, False), _split(words, True)
    shouted = [word for word in words if word.isupper() and len(word) > 2]
    if shouted and len(shouted) < len(words):
        return last_first if words[0] in shouted or (words[0].isupper() and words[1] in shouted) else first_last
    if words[0].lower() in PARTICLES:
        return last_first
    if (at := next((n for n, word in enumerate(words[:-1]) if n and word in _OF_SURNAMES), 0)) > 0:
        return Name(" ".join(words[at:]), " ".join(words[:at]))
    said = {name.lower() for name in spoken}
    if (first_last.last.lower() in said) != (last_first.last.lower() in said):
        return first_last if first_last.last.lower() in said else last_first
    return last_first if surname_first(words, register) else first_last


def _split(words: list[str], last_first: bool) -> Name:
    if last_first:
        end = 1
        while end < len(words) - 1 and (
            words[end - 1].lower() in PARTICLES
            or (given(words[end]) <= 0 and any(given(word) > 1 for word in words[end + 1 :]))
        ):
            end += 1
        return Name(" ".join(words[:end]), " ".join(words[end:]))
    start = len(words) - 1
    while start > 1 and (words[start - 1].lower() in PARTICLES or given(words[start - 1]) < 0):
        start -= 1
    return Name(" ".join(words[start:]), " ".join(words[:start]))


def name_before(text: str) -> str:
    """The run of name words at the end of the text: `wir berichten über Frau KERN, Anna, ` -> `KERN, Anna`."""
    text = _TITLE_BEHIND.sub("", closed_up(text[-120:]))
    words = text[-90:].replace("(", " ").replace("*", " ").split()
    if len(text) > 90 and words:
        words = words[1:]
    run: list[str] = []
    for word in reversed(words):
        bare = word.strip(",")
        if not bare:
            continue
        if not (is_name_word(bare) or (bare.lower() in PARTICLES and run)):
            break
        if bare.endswith(".") and (len(bare) > 3 or TITLE.fullmatch(bare)):
            break
        run.append(word if run else bare)
    before = words[-len(run) - 1] if len(run) < len(words) else ""
    while run and _is_preposition(run, before):
        run.pop()  # `Zuweisung von Anna Kern`
    run = run[: _about(run)]
    return " ".join(reversed(run[:6]))


def _about(run: Sequence[str]) -> int:
    """The words (last first) up to `Kurz zu`, `Bericht zu`: what is written, not who it is about."""
    at = next((n for n, word in enumerate(run) if word == "zu" and n + 1 < len(run)), None)
    return len(run) if at is None or any(given(word) > 0 for word in run[at + 1 :]) else at


_ACT = re.compile(r"(?:ung|nahme|frage|bericht|befund|brief)$", re.IGNORECASE)
"""Endings of acts on a person: `von` behind one begins no name."""
_PREPOSITIONS = frozenset(("von", "zu", "der", "die", "den", "dem", "i", "y", "und", "vom", "zur"))


def _is_preposition(run: Sequence[str], before: str) -> bool:
    """True if the first word (the last of the run) is a preposition and no part of the name behind it."""
    word = run[-1].strip(",").lower()
    if word not in PARTICLES:
        return False
    if not run[-1][0].islower():
        return word in _PREPOSITIONS
    return (len(run) > 2 and given(run[-2]) > 1) or _ACT.search(before) is not None


_DOCTOR = re.compile(
    rf"(?<!\w)((?:(?:{_RANK}|{_DEGREE})[\s.]{{1,3}}){{1,9}}\s?[^\W\d_a-zäöü][^\s,;|/()<\d]*(?:\s+(?:(?:von|van|de|der|"
    rf"zu|"
    rf"zur|dos|di|da|del|Al)\s+)?"
    rf"[^\W\d_a-zäöü][^\s,;|/()<\d]*){{0,3}})"
)


def doctor_in(text: str) -> str | None:
    """The first name with an academic title, as it stands; None where there is none."""
    for found in _DOCTOR.finditer(text[:400]):
        whole = found[1].strip(" ,.-")
        bare = strip_titles(whole)
        words = bare.split()
        kept: list[str] = []
        for word in words:
            if TITLE.fullmatch(word) or (not is_name_word(word) and word.lower() not in PARTICLES):
                break
            kept.append(word)
        while kept and kept[-1].lower() in PARTICLES:
            kept.pop()
        if kept and (len(kept) > 1 or len(kept[0]) > 2):
            end = (
                whole.find(bare) + len(bare)
                if len(kept) == len(words)
                else whole.find(kept[-1], whole.find(bare)) + len(kept[-1])
            )
            return whole[:end].strip()
    return None


def same_person(one: str, other: str) -> bool:
    """True if two wordings name the same surname, also the first of a double one, and no other first name."""
    a, b = strip_titles(one).lower().split(), strip_titles(other).lower().split()
    if not a or not b or set(a) <= set(b) or set(b) <= set(a):
        return bool(a and b)
    surnames = a[-1].split("-")[0] == b[-1].split("-")[0]
    return surnames and (len(a) < 2 or len(b) < 2 or a[0][0] == b[0][0])


def ticked_word(value: str) -> str:
    """Return the ticked option (`☐ weiblich   ☒ männlich`); a value without boxes as it is."""
    found = re.search(r"(?:☒|☑|\[[xX]\]|\([xX]\))\s*(\w+)", value)
    return found[1] if found else value


def leading_name(text: str) -> str:
    """The name words at the beginning: `Anna Kern, welche` -> `Anna Kern`."""
    run: list[str] = []
    for word in text.split()[:8]:
        bare = word.strip(",.;")
        if not run and re.match(r"(?:Dr|Prof|Mag|DI|Dipl|Ing|med|univ|Herrn?|Hrn?|Fr|Frau)\b", word):
            continue
        if not bare or not (bare[0].isupper() or bare.lower() in PARTICLES):
            break
        run.append(bare)
        if word[-1] in ",.;" and not (word.endswith(",") and len(run) == 1 and bare.isupper()):
            break
        if word.endswith(","):
            run[-1] = bare + ","
    return " ".join(run[:5])


_SALUTATION_BOXES = re.compile(
    r"(?:☐|☒|☑|\[[ xX]?\]|\([ xX]\))\s*(?:Frau|Herr|weiblich|männlich|w|m)\b\s*(?:☐|☒|☑|\[[ xX]?\]|\([ xX]\))\s*"
    r"(?:Frau|Herr|weiblich|männlich|w|m)\b"
)


def ticked_salutation(lines: Sequence[str]) -> str:
    """`☐ Frau ☒ Herr`, `[ ] m  [x] w`: what is ticked in a row of a form; "" where there is no such row."""
    return next((ticked_word(line[:300]) for line in lines if _SALUTATION_BOXES.search(line[:300])), "")
